/* onednn.c - vendor-onednn: oneDNN's matmul, softmax and matmul over all N x M pairs of a head.  One thread; version 2.
 *
 * Masked scores are overwritten by -inf between matmul and softmax.  All N x M products are formed: a masked value that
 * is not finite reaches the output.  Primitives are made anew in every run (oneDNN caches their code).  Built as a
 * plugin where oneDNN is installed.
 */
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <string.h>

#include "full.h"

/* Of the OpenMP runtime that oneDNN itself is linked with (libgomp), whatever the compiler's own is. */
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);

typedef struct step {
    dnnl_primitive_t primitive;
    dnnl_memory_t in[2], out; /* in[1] NULL: softmax */
} step;

typedef struct job {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t scaled;
    step scores, softmax, values;
} job;

/* A matrix of floats; `transposed`: stored with the columns in rows. */
static int matrix(dnnl_memory_desc_t *desc, int64_t rows, int64_t columns, int transposed)
{
    const dnnl_dims_t size = { rows, columns }, stride = { transposed ? 1 : columns, transposed ? rows : 1 };
    return dnnl_memory_desc_init_by_strides(desc, 2, size, dnnl_f32, stride) == dnnl_success;
}

static int memory(dnnl_memory_t *memory, const dnnl_memory_desc_t *desc, const job *j)
{
    return dnnl_memory_create(memory, desc, j->engine, DNNL_MEMORY_NONE) == dnnl_success;
}

static int primitive(step *s, const_dnnl_op_desc_t desc, const job *j, const_dnnl_primitive_attr_t attr)
{
    dnnl_primitive_desc_t found = NULL;
    const int made = dnnl_primitive_desc_create(&found, desc, attr, j->engine, NULL) == dnnl_success &&
                     dnnl_primitive_create(&s->primitive, found) == dnnl_success;
    dnnl_primitive_desc_destroy(found);
    return made;
}

/* out = a b, out [rows, columns] */
static int matmul(step *s, const job *j, int64_t rows, int64_t inner, int64_t columns, int b_transposed,
                  const_dnnl_primitive_attr_t attr)
{
    dnnl_memory_desc_t a, b, out;
    dnnl_matmul_desc_t desc;
    return matrix(&a, rows, inner, 0) && matrix(&b, inner, columns, b_transposed) && matrix(&out, rows, columns, 0) &&
           dnnl_matmul_desc_init(&desc, &a, &b, NULL, &out) == dnnl_success && primitive(s, &desc, j, attr) &&
           memory(&s->in[0], &a, j) && memory(&s->in[1], &b, j) && memory(&s->out, &out, j);
}

static int softmax(step *s, const job *j, int64_t rows, int64_t columns)
{
    dnnl_memory_desc_t a;
    dnnl_softmax_desc_t desc;
    return matrix(&a, rows, columns, 0) &&
           dnnl_softmax_forward_desc_init(&desc, dnnl_forward_inference, &a, 1) == dnnl_success &&
           primitive(s, &desc, j, NULL) && memory(&s->in[0], &a, j) && memory(&s->out, &a, j);
}

/* No half-made job: what is not there is NULL. */
static int job_init(job *j, const attest_problem *p)
{
    const float scale = (float)p->scale;
    *j = (job){ 0 };
    return dnnl_engine_create(&j->engine, dnnl_cpu, 0) == dnnl_success &&
           dnnl_stream_create(&j->stream, j->engine, dnnl_stream_default_flags) == dnnl_success &&
           dnnl_primitive_attr_create(&j->scaled) == dnnl_success &&
           dnnl_primitive_attr_set_output_scales(j->scaled, 1, 0, &scale) == dnnl_success &&
           matmul(&j->scores, j, p->n, p->d, p->m, 1, j->scaled) && softmax(&j->softmax, j, p->n, p->m) &&
           matmul(&j->values, j, p->n, p->m, p->e, 0, NULL);
}

static void job_clear(job *j)
{
    step *steps[] = { &j->scores, &j->softmax, &j->values };
    for (int n = 0; n < 3; n++) {
        dnnl_memory_t all[] = { steps[n]->in[0], steps[n]->in[1], steps[n]->out };
        for (int m = 0; m < 3; m++)
            if (all[m])
                dnnl_memory_destroy(all[m]);
        if (steps[n]->primitive)
            dnnl_primitive_destroy(steps[n]->primitive);
    }
    if (j->scaled)
        dnnl_primitive_attr_destroy(j->scaled);
    if (j->stream)
        dnnl_stream_destroy(j->stream);
    if (j->engine)
        dnnl_engine_destroy(j->engine);
}

static int execute(const job *j, const step *s, const float *a, const float *b, float *out)
{
    void *handles[3];
    memcpy(handles, (const void *[]){ a, b, out }, sizeof handles); /* oneDNN takes inputs without const */
    dnnl_exec_arg_t arguments[3] = { { DNNL_ARG_SRC, s->in[0] },
                                     { DNNL_ARG_DST, s->out },
                                     { DNNL_ARG_WEIGHTS, s->in[1] } };
    return dnnl_memory_set_data_handle(s->in[0], handles[0]) == dnnl_success &&
           dnnl_memory_set_data_handle(s->out, handles[2]) == dnnl_success &&
           (!s->in[1] || dnnl_memory_set_data_handle(s->in[1], handles[1]) == dnnl_success) &&
           dnnl_primitive_execute(s->primitive, j->stream, s->in[1] ? 3 : 2, arguments) == dnnl_success &&
           dnnl_stream_wait(j->stream) == dnnl_success;
}

static int one_head(const job *j, const attest_problem *p, const yard_head *x, float *s)
{
    if (!execute(j, &j->scores, x->q, x->k, s))
        return 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t at = yard_visible(p, i); at < p->m; at++)
            s[i * p->m + at] = -INFINITY;
    if (!execute(j, &j->softmax, s, NULL, s))
        return 0;
    for (int64_t i = 0; i < p->n && yard_visible(p, i) == 0; i++) /* rows without a key come first */
        memset(s + i * p->m, 0, (size_t)p->m * sizeof *s);
    return execute(j, &j->values, s, x->v, x->o);
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const int threads = omp_get_max_threads();
    attest_status status = ATTEST_OK;
    yard_head x;
    job j;
    omp_set_num_threads(1);
    if (!job_init(&j, p))
        status = ATTEST_KERNEL_ERROR;
    for (int64_t head = 0; status == ATTEST_OK && head < p->b * p->hq; head++) {
        if (!yard_head_of(&x, p, t, head))
            status = ATTEST_UNSUPPORTED;
        else if (!one_head(&j, p, &x, call->workspace))
            status = ATTEST_KERNEL_ERROR;
    }
    job_clear(&j);
    omp_set_num_threads(threads);
    return status;
}

/* oneDNN's exponential of a float gives 0 where e^x is subnormal. */
FULL_LIBRARY("vendor-onednn", "kernels/vendor/onednn.c", "matmul, softmax, matmul over all pairs; oneDNN 2, one thread",
             ATTEST_FTZ)
