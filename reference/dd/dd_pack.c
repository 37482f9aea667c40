/* dd_pack.c - tensors into the dd engine's panels, and what the scan of them finds (dd_driver.h). */
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "reference/dd/dd_driver.h"

int dd_mantissa_bits(uint32_t dtype) { return attest_format_of(dtype).p - 1; }

/* ---- loads ------------------------------------------------------------------------------------------------------- */
static void load_f32(double *x, const char *data, int64_t stride, int64_t count)
{
    for (int64_t c = 0; c < count; c++) {
        float f;
        memcpy(&f, data + c * stride * (int64_t)sizeof f, sizeof f);
        x[c] = (double)f;
    }
}

static void load_bf16(double *x, const char *data, int64_t stride, int64_t count)
{
    for (int64_t c = 0; c < count; c++) {
        uint16_t half;
        float f;
        memcpy(&half, data + c * stride * (int64_t)sizeof half, sizeof half);
        const uint32_t bits = (uint32_t)half << 16;
        memcpy(&f, &bits, sizeof f);
        x[c] = (double)f;
    }
}

static void load_f16(double *x, const char *data, int64_t stride, int64_t count)
{
    for (int64_t c = 0; c < count; c++) {
        uint16_t half;
        memcpy(&half, data + c * stride * (int64_t)sizeof half, sizeof half);
        x[c] = attest_to_f64(ATTEST_F16, half);
    }
}

/* x[count] = vector (b,h,t) of a tensor of f32, bf16 or f16: exact. */
static void load_vector(double *x, const attest_tensor *t, int64_t b, int64_t h, int64_t row, int64_t count)
{
    static void (*const load[])(double *, const char *, int64_t, int64_t) = {
        [ATTEST_F32] = load_f32, [ATTEST_F16] = load_f16, [ATTEST_BF16] = load_bf16
    };
    const char *data = (const char *)t->data + attest_offset(t, b, h, row, 0) * (int64_t)attest_dtype_bytes(t->dtype);
    if (t->dtype == ATTEST_F32 && t->stride[3] == 1)
        load_f32(x, data, 1, count); /* a unit stride that the compiler sees */
    else if (t->dtype == ATTEST_BF16 && t->stride[3] == 1)
        load_bf16(x, data, 1, count);
    else
        load[t->dtype](x, data, t->stride[3], count);
}

static void clear_negative(double *x, int64_t count)
{
    for (int64_t c = 0; c < count; c++)
        x[c] = x[c] > 0 || x[c] - x[c] != 0 ? x[c] : 0; /* a NaN and an infinity stay */
}

/* Multiples of the result: the least bit of the smallest number other than 0; INFINITY if there is none. */
static double grid_of(double smallest, uint32_t dtype)
{
    const int64_t least = dd_exponent(smallest);
    if (smallest == __builtin_inf())
        return smallest;
    return dd_power_of_two((dd_power_of_two(least) > smallest ? least - 1 : least) - dd_mantissa_bits(dtype));
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */
void dd_query(double *q, dd_row *row, const dd_job *job)
{
    const int64_t d = job->p->d;
    double squares = 0, largest = 0, smallest = __builtin_inf();
    if (row->h < 0) {
        memset(q, 0, (size_t)d * sizeof *q);
        row->known = 0;
        return;
    }
    load_vector(q, job->q, job->head.b, row->h, row->i, d);
    if (job->f.relu)
        clear_negative(q, d);
    if (!job->path->scan(&squares, &largest, &smallest, q, d)) {
        memset(q, 0, (size_t)d * sizeof *q);
        row->known = 0;
        squares = 0;
    }
    if (job->f.fold != 1)
        for (int64_t c = 0; c < d; c++)
            q[c] *= job->f.fold; /* exact: a power of two */
    row->square = squares * job->f.fold * job->f.fold * (1 + 0x1p-20);
    row->grid = grid_of(smallest, job->p->in) * __builtin_fabs(job->f.fold);
}

/* ---- keys and values --------------------------------------------------------------------------------------------- */
attest_status dd_head_init(dd_head *head, const dd_job *job, attest_error *err)
{
    const attest_problem *p = job->p;
    const size_t keys = (size_t)(job->panels * DD_PANEL), columns = (size_t)(job->columns * DD_PANEL);
    memset(head, 0, sizeof *head);
    const size_t k = keys * (size_t)p->d, v = keys * columns, slices = job->sliced ? 2 : 1;
    head->bad = malloc(((size_t)p->m + 1) * sizeof *head->bad);
    head->key = aligned_alloc(64, (slices * (k + v) + 2 * columns) * sizeof(double)); /* one block: kept by malloc */
    if (head->bad && head->key) {
        head->value = head->key + k;
        head->power = head->value + v;
        head->value_big = head->power + columns;
        head->key2 = job->sliced ? head->value_big + columns : NULL;
        head->value2 = job->sliced ? head->key2 + k : NULL;
        return ATTEST_OK;
    }
    dd_head_clear(head);
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for packed keys and values");
}

void dd_head_clear(dd_head *head)
{
    free(head->bad);
    free(head->key);
    memset(head, 0, sizeof *head);
}

/* Key j and its value into the panels, zeros behind the last one and in the columns behind e. */
static void pack_vectors(const dd_job *job, int64_t j, double *x)
{
    const dd_head *head = &job->head;
    const int64_t d = job->p->d, e = job->p->e, width = job->columns * DD_PANEL, keys = job->panels * DD_PANEL;
    double *to = head->key + j / DD_PANEL * d * DD_PANEL + j % DD_PANEL;
    memset(x, 0, (size_t)(d > width ? d : width) * sizeof *x);
    if (j < job->p->m)
        load_vector(x, job->k, head->b, head->g, j, d);
    if (job->f.relu)
        clear_negative(x, d);
    for (int64_t c = 0; c < d; c++)
        to[c * DD_PANEL] = x[c];
    if (j < job->p->m)
        load_vector(x, job->v, head->b, head->g, j, e);
    for (int64_t c = j < job->p->m ? e : 0; c < width; c++)
        x[c] = 0;
    for (int64_t c = 0; c < width; c += DD_PANEL)
        memcpy(head->value + (c / DD_PANEL * keys + j) * DD_PANEL, x + c, DD_PANEL * sizeof *x);
}

/* Sizes in a panel; 0 if a number in it is not finite, and then only f->most is good (and may be of cleared keys). */
static int survey_panel(const dd_job *job, int64_t panel, dd_found *f)
{
    const int64_t d = job->p->d, keys = job->panels * DD_PANEL;
    const double *key = job->head.key + panel * d * DD_PANEL, *value = job->head.value + panel * DD_PANEL * DD_PANEL;
    double squares[DD_PANEL], largest[DD_PANEL] = { 0 };
    int finite = job->path->survey(squares, largest, &f->key_least, key, d);
    for (int n = 0; n < DD_PANEL; n++)
        f->key_square = squares[n] > f->key_square ? squares[n] : f->key_square;
    for (int64_t c = 0; c < job->columns && finite; c++) {
        memcpy(largest, f->most + c * DD_PANEL, sizeof largest);
        finite = job->path->survey(squares, largest, &f->value_least, value + c * keys * DD_PANEL, DD_PANEL);
        if (finite)
            memcpy(f->most + c * DD_PANEL, largest, sizeof largest);
    }
    return finite;
}

/* Marks the panel's keys that are not finite, or have such a value, and clears both. */
static void clear_bad(const dd_job *job, int64_t panel)
{
    const dd_head *head = &job->head;
    const int64_t d = job->p->d, keys = job->panels * DD_PANEL;
    for (int64_t j = panel * DD_PANEL; j < (panel + 1) * DD_PANEL && j < job->p->m; j++) {
        double *key = head->key + panel * d * DD_PANEL + j % DD_PANEL, *value = head->value + j * DD_PANEL;
        int64_t bad = 0;
        for (int64_t c = 0; c < d; c++)
            bad |= key[c * DD_PANEL] - key[c * DD_PANEL] != 0;
        for (int64_t c = 0; c < job->columns * DD_PANEL; c++) {
            const double x = value[c / DD_PANEL * keys * DD_PANEL + c % DD_PANEL];
            bad |= x - x != 0;
        }
        for (int64_t c = 0; c < d && bad; c++)
            key[c * DD_PANEL] = 0;
        for (int64_t c = 0; c < job->columns && bad; c++)
            memset(value + c * keys * DD_PANEL, 0, DD_PANEL * sizeof *value);
        head->bad[j + 1] = bad;
    }
}

void dd_pack_start(dd_job *job, int64_t b, int64_t g)
{
    dd_head *head = &job->head;
    head->b = b;
    head->g = g;
    head->bad[0] = 0;
    head->key_square = 0;
    head->key_grid = head->value_grid = __builtin_inf(); /* the smallest |x| until dd_pack_finish */
    memset(head->power, 0, (size_t)(job->columns * DD_PANEL) * sizeof *head->power); /* likewise max |v_c| */
}

size_t dd_pack_scratch(const dd_job *job)
{
    const int64_t width = job->columns * DD_PANEL;
    return (size_t)((job->p->d > width ? job->p->d : width) + width);
}

void dd_pack_thread(dd_found *f, const dd_job *job, double *scratch)
{
    const int64_t width = job->columns * DD_PANEL;
    *f = (dd_found){ 0, __builtin_inf(), __builtin_inf(), scratch + width, scratch };
    memset(f->most, 0, (size_t)width * sizeof *f->most);
}

void dd_pack_panel(const dd_job *job, int64_t panel, dd_found *f)
{
    const dd_found before = *f;
    for (int64_t j = panel * DD_PANEL; j < (panel + 1) * DD_PANEL; j++) {
        pack_vectors(job, j, f->x);
        if (j < job->p->m)
            job->head.bad[j + 1] = 0;
    }
    if (survey_panel(job, panel, f))
        return;
    clear_bad(job, panel);
    *f = before;
    survey_panel(job, panel, f);
}

void dd_pack_merge(dd_job *job, const dd_found *f)
{
    dd_head *head = &job->head;
    head->key_square = f->key_square > head->key_square ? f->key_square : head->key_square;
    head->key_grid = f->key_least < head->key_grid ? f->key_least : head->key_grid;
    head->value_grid = f->value_least < head->value_grid ? f->value_least : head->value_grid;
    for (int64_t c = 0; c < job->columns * DD_PANEL; c++)
        head->power[c] = f->most[c] > head->power[c] ? f->most[c] : head->power[c];
}

void dd_pack_finish(dd_job *job)
{
    dd_head *head = &job->head;
    head->key_square *= 1 + 0x1p-20;
    head->key_grid = grid_of(head->key_grid, job->p->in);
    head->value_grid = grid_of(head->value_grid, job->p->in);
    head->value_power = 0;
    for (int64_t c = 0; c < job->columns * DD_PANEL; c++) {
        head->power[c] = dd_power_of_two(dd_exponent(head->power[c])); /* a column of zeros: 0, and all of it exact */
        head->value_power = head->power[c] > head->value_power ? head->power[c] : head->value_power;
    }
    for (int64_t j = 0; j < job->p->m; j++)
        head->bad[j + 1] += head->bad[j];
    head->key_exponent = dd_norm_exponent(head->key_square);
    for (int64_t c = 0; job->sliced && c < job->columns * DD_PANEL; c++)
        head->value_big[c] = 1.5 * 0x1p27 * head->power[c]; /* grid 2^-25 power */
}

void dd_pack_slice(const dd_job *job, int64_t panel)
{
    const dd_head *head = &job->head;
    const int64_t d = job->p->d, keys = job->panels * DD_PANEL;
    double big[DD_PANEL], *key = head->key + panel * d * DD_PANEL;
    for (int n = 0; n < DD_PANEL; n++)
        big[n] = 1.5 * dd_power_of_two(head->key_exponent + 26); /* grid 2^(key_exponent - 26) */
    job->path->slice(key, head->key2 + panel * d * DD_PANEL, key, d, big);
    for (int64_t c = 0; c < job->columns; c++) {
        const int64_t at = (c * keys + panel * DD_PANEL) * DD_PANEL;
        job->path->slice(head->value + at, head->value2 + at, head->value + at, DD_PANEL,
                         head->value_big + c * DD_PANEL);
    }
}
