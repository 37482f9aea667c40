/* public.c - the checks of public kernel benchmarks, on kernels of a library: `public LIBRARY`.
 *
 * A line a kernel: NAME ONE FIVE NORMAL, each 1 (passes) or 0.  ONE and FIVE as KernelBench does
 * (src/eval.py 01f92ad: eval_kernel_against_ref, num_correct_trials 1 or 5): inputs of torch.rand, uniform in [0,1), of
 * one fixed size; the reference runs first, in the same process, on the same tensors; the kernel's output lies where
 * the allocator had the reference's; torch.allclose with 1e-2.  NORMAL: five seeds of torch.randn.  Then three calls on
 * the inputs of the last trial are timed by the process itself.  A kernel runs in a child, and passes if this says so.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "kernels/library/library.h"
#include "kernels/problem/problem.h"
#include "kernels/tensor/tensor.h"

#define LINE "variant=softmax b=2 hq=2 n=512 d=32"
#define TOLERANCE 1e-2

static double uniform(uint64_t *stream) { return (double)(attest_next64(stream) >> 11) * 0x1p-53; }

static double draw(uint64_t *stream, int normal)
{
    const double u = uniform(stream);
    return normal ? sqrt(-2 * log(1 - u)) * cos(2 * 3.14159265358979 * uniform(stream)) : u;
}

/* o in double, rounded to float. */
static void reference(float *o, const attest_problem *p, const float *q, const float *k, const float *v)
{
    double *s = calloc((size_t)p->m, sizeof *s);
    for (int64_t r = 0; s && r < p->b * p->hq * p->n; r++) {
        const float *keys = k + r / p->n * p->m * p->d, *values = v + r / p->n * p->m * p->e;
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < p->m; j++) {
            double dot = 0;
            for (int64_t x = 0; x < p->d; x++)
                dot += (double)q[r * p->d + x] * keys[j * p->d + x];
            s[j] = p->scale * dot;
            most = fmax(most, s[j]);
        }
        for (int64_t j = 0; j < p->m; j++)
            sum += s[j] = exp(s[j] - most);
        for (int64_t x = 0; x < p->e; x++) {
            double u = 0;
            for (int64_t j = 0; j < p->m; j++)
                u += s[j] * values[j * p->e + x];
            o[r * p->e + x] = (float)(u / sum);
        }
    }
    free(s);
}

static int all_close(const float *a, const float *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)a[i] - b[i]) <= TOLERANCE + TOLERANCE * fabs((double)b[i])))
            return 0;
    return 1;
}

static attest_status call(const attest_plugin *plugin, uint32_t index, const attest_problem *p, attest_bundle *bundle)
{
    const attest_loaded kernel = attest_plugin_loaded(plugin, index);
    const size_t size = attest_kernel_workspace(kernel, p);
    char why[256];
    void *workspace = aligned_alloc(64, (size + 127) / 64 * 64);
    attest_view view = { .role = { NULL } };
    for (int r = 0; r < ATTEST_ROLE_COUNT; r++)
        view.role[r] = attest_bundle_role(bundle, (attest_role)r);
    const attest_status status = attest_kernel_run(kernel, p, &view, workspace, size, why, sizeof why);
    free(workspace);
    return status;
}

/* `trials` comparisons and a timing; 1: passes. */
static int passes(const attest_plugin *plugin, uint32_t index, int trials, int normal)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_O };
    attest_error err;
    attest_case c;
    attest_bundle *bundle = NULL;
    attest_tensor *t[4];
    char why[256];
    int good = attest_case_parse(&c, LINE, NULL, NULL, &err) == ATTEST_OK &&
               attest_bundle_new(&bundle, &err) == ATTEST_OK;
    for (int i = 0; i < 4 && good; i++)
        good = attest_bundle_add(bundle, &c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, roles[i] }, 0, &t[i],
                                 &err) == ATTEST_OK;
    good = good && attest_kernel_supports(attest_plugin_loaded(plugin, index), &c.problem, why, sizeof why);
    const int64_t count = good ? attest_tensor_count(t[3]) : 0;
    float *want = malloc((size_t)(count + 1) * sizeof *want);
    for (int trial = 0; trial < trials && good; trial++) {
        uint64_t stream = 42 + (uint64_t)trial;
        for (int i = 0; i < 3; i++)
            for (int64_t x = 0; x < attest_tensor_count(t[i]); x++)
                ((float *)t[i]->data)[x] = (float)draw(&stream, normal);
        reference(want, &c.problem, t[0]->data, t[1]->data, t[2]->data);
        memcpy(t[3]->data, want, (size_t)count * sizeof *want); /* what the allocator gives back */
        good = call(plugin, index, &c.problem, bundle) == ATTEST_OK && all_close(t[3]->data, want, count);
    }
    for (int i = 0; i < 3 && good; i++)
        good = call(plugin, index, &c.problem, bundle) == ATTEST_OK;
    free(want);
    attest_bundle_free(bundle);
    return good;
}

/* In a child, which says so through memory that is shared with it; its output is not ours. */
static int passes_in_child(const attest_plugin *plugin, uint32_t index, int trials, int normal)
{
    int *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (said == MAP_FAILED)
        return 0;
    const pid_t shell = fork(); /* what a kernel's getppid() names */
    if (shell == 0) {
        const pid_t child = fork();
        if (child == 0) {
            for (int fd = 0; fd < 16; fd++)
                close(fd);
            alarm(60);
            *said = passes(plugin, index, trials, normal);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        _exit(0);
    }
    waitpid(shell, NULL, 0);
    const int good = *said;
    munmap(said, sizeof *said);
    return good;
}

int main(int argc, char **argv)
{
    static const attest_host host = { sizeof host, ATTEST_ABI_VERSION, NULL };
    attest_plugin *plugin = NULL;
    attest_error err = { "" };
    if (argc != 2 || attest_plugin_open(&plugin, argv[1], &host, &err) != ATTEST_OK) {
        fprintf(stderr, "public LIBRARY: %s\n", err.text);
        return 2;
    }
    for (uint32_t k = 0; k < plugin->library.kernel_count; k++) {
        const int one = passes_in_child(plugin, k, 1, 0), five = passes_in_child(plugin, k, 5, 0),
                  normal = passes_in_child(plugin, k, 5, 1);
        printf("%s %d %d %d\n", attest_plugin_loaded(plugin, k).kernel->name, one, five, normal);
        fflush(stdout);
    }
    attest_plugin_free(plugin);
    return 0;
}
