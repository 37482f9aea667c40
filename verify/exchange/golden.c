/* golden.c - see golden.h.  The ends of what an element may be are asked of the judge itself: a row of candidates is
 * judged, and each moves until the judge passes it and fails its neighbour. */
#include "verify/exchange/golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/npy/npy.h"

enum { TRUTH, BOUND, FIRST, LAST, PLANES };

typedef struct making {
    attest_truth *truth;
    const attest_problem *p;
    const attest_declared *declared;
    attest_tensor_id id;
    attest_tensor rounded, nearest; /* own type; f64 */
    attest_tensor row;              /* one row of candidates: its strides ignore which */
    int64_t width, count;           /* elements of a row, of all */
    int64_t left;                   /* elements that no verdict counts as judged */
    double *plane[PLANES];
    attest_element *elements, *found; /* [width] of the candidates, of the rounded truth */
    int64_t *pass, *fail;             /* [width]; keys times the way */
    uint64_t *step;                   /* [width] */
    int *back;                        /* [width] */
} making;

/* ---- values in order ---------------------------------------------------------------------------------------- */
/* Values of a type as integers in their order, both zeros 0. */
static int64_t key_of(uint32_t dtype, uint64_t bits)
{
    const uint64_t sign = 1ull << (attest_format_of(dtype).bits - 1);
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static uint64_t bits_of(uint32_t dtype, int64_t key)
{
    const uint64_t sign = 1ull << (attest_format_of(dtype).bits - 1);
    return key < 0 ? (uint64_t)-key | sign : (uint64_t)key;
}

/* ---- a row -------------------------------------------------------------------------------------------------- */
static attest_status judge(making *m, attest_row at, attest_error *err)
{
    return attest_judge_row(m->elements, NULL, m->truth, &m->declared->numerics, m->declared->flags, m->id, &m->row, at,
                            err);
}

/* Is this value wrong?  Where no bound is proved, one whose error is no number is: a NaN, an infinity of the wrong
 * sign. */
static int fails(const attest_element *el)
{
    return el->class == ATTEST_CLASS_UNBOUNDED ? !(el->error_hi < (double)INFINITY) : !(el->ratio_lo <= 1);
}

/* Keys from `low` up to `high`; of doubles of both signs they are more than an int64_t holds. */
static uint64_t between(int64_t low, int64_t high) { return (uint64_t)high - (uint64_t)low; }

/* The next candidate of an element that is open: `step` beyond what passes, or before what fails where that came last;
 * in the middle where that is beside the point. */
static int64_t candidate(const making *m, int64_t c)
{
    const uint64_t room = between(m->pass[c], m->fail[c]), pass = (uint64_t)m->pass[c], fail = (uint64_t)m->fail[c];
    const uint64_t step = m->step[c];
    return (int64_t)(step >= room ? pass + room / 2 : m->back[c] ? fail - step : pass + step);
}

static int is_open(const making *m, int64_t c) { return between(m->pass[c], m->fail[c]) > 1; }

/* Takes the verdict over the candidate of each element that is open.  The first one was the guess: from there on it
 * goes by one, two, four, .. */
static void take_verdicts(making *m, int first)
{
    for (int64_t c = 0; c < m->width; c++) {
        const int failed = fails(&m->elements[c]);
        if (!is_open(m, c))
            continue;
        *(failed ? &m->fail[c] : &m->pass[c]) = candidate(m, c);
        m->step[c] = first ? 1 : m->step[c] >> 62 ? m->step[c] : 2 * m->step[c];
        m->back[c] = first ? failed : m->back[c];
    }
}

static int has_ends(const making *m, int64_t at) { return !isnan(m->plane[FIRST][at]); }

/* plane[LAST] (way 1) or plane[FIRST] (way -1) of the elements that have one, from `base` on. */
static attest_status find_ends(making *m, int way, attest_row at, int64_t base, attest_error *err)
{
    const uint32_t dtype = m->rounded.dtype;
    const int64_t infinity = key_of(dtype, attest_from_f64(dtype, (double)INFINITY));
    attest_status status = ATTEST_OK;
    int open = 1;
    for (int64_t c = 0; c < m->width; c++) {
        const attest_element *el = &m->found[c];
        const double guess = way > 0 ? el->truth_hi + el->bound : el->truth_lo - el->bound;
        m->pass[c] = way * key_of(dtype, el->got);
        m->fail[c] = has_ends(m, base + c) ? infinity + 1 : m->pass[c] + 1;
        const int64_t key = isnan(guess) ? m->pass[c] : way * key_of(dtype, attest_from_f64(dtype, guess));
        m->step[c] = key > m->pass[c] ? between(m->pass[c], key) : 1;
        m->back[c] = 0;
    }
    for (int round = 0; open; round++) {
        open = 0;
        for (int64_t c = 0; c < m->width; c++) {
            const int more = is_open(m, c);
            attest_store_bits(&m->row, c, bits_of(dtype, way * (more ? candidate(m, c) : m->pass[c])));
            open |= more;
        }
        if (open)
            ATTEST_TRY(judge(m, at, err));
        take_verdicts(m, round == 0);
    }
    for (int64_t c = 0; c < m->width; c++)
        if (has_ends(m, base + c))
            m->plane[way > 0 ? LAST : FIRST][base + c] = attest_to_f64(dtype, bits_of(dtype, way * m->pass[c]));
out:
    return status;
}

/* What kind of element it is, by its class and the verdict over the rounded truth; first and last are 0 where they are
 * to be found, else NaN. */
static attest_status set_kind(making *m, int64_t c, int64_t at, attest_error *err)
{
    const attest_element *el = &m->found[c];
    const int empty = el->class == ATTEST_CLASS_EMPTY, open = el->class == ATTEST_CLASS_UNBOUNDED;
    const int judged = empty || el->class == ATTEST_CLASS_NORMAL || el->class == ATTEST_CLASS_PREMATURE_OVERFLOW;
    const int pattern = el->class == ATTEST_CLASS_NO_TRUTH && el->ratio_hi == 0;
    m->plane[BOUND][at] = m->plane[FIRST][at] = m->plane[LAST][at] = NAN;
    m->left += !judged && !pattern;
    if (pattern) {
        m->plane[BOUND][at] = 0; /* a NaN must stand here, and does */
    } else if ((judged || open) && !isnan(attest_to_f64(m->rounded.dtype, el->got))) {
        if (fails(el))
            return attest_fail(err, ATTEST_INTERNAL, "the correctly rounded truth is outside its bound");
        m->plane[BOUND][at] = open                                                           ? (double)INFINITY
                              : empty && m->declared->numerics.empty_row == ATTEST_EMPTY_NAN ? -0.0
                                                                                             : el->bound;
        m->plane[FIRST][at] = m->plane[LAST][at] = 0;
    }
    return ATTEST_OK;
}

/* A row that is absent: every number, and a NaN. */
static attest_status make_absent(making *m, int64_t base)
{
    for (int64_t c = base; c < base + m->width; c++) {
        m->plane[TRUTH][c] = attest_load(&m->nearest, c);
        m->plane[BOUND][c] = -0.0;
        m->plane[FIRST][c] = -(double)INFINITY;
        m->plane[LAST][c] = (double)INFINITY;
    }
    return ATTEST_OK;
}

static attest_status make_row(making *m, attest_row at, attest_error *err)
{
    const int64_t base = ((at.b * m->p->hq + at.h) * m->p->n + at.i) * m->width;
    attest_status status = ATTEST_OK;
    if (at.i >= attest_truth_lengths(m->truth, at.b).queries)
        return make_absent(m, base);
    for (int64_t c = 0; c < m->width; c++)
        attest_store_bits(&m->row, c, attest_load_bits(&m->rounded, base + c));
    ATTEST_TRY(judge(m, at, err));
    memcpy(m->found, m->elements, (size_t)m->width * sizeof *m->found);
    for (int64_t c = 0; c < m->width; c++) {
        m->plane[TRUTH][base + c] = attest_load(&m->nearest, base + c);
        ATTEST_TRY(set_kind(m, c, base + c, err));
    }
    ATTEST_TRY(find_ends(m, 1, at, base, err));
    ATTEST_TRY(find_ends(m, -1, at, base, err));
out:
    return status;
}

/* ---- an output ---------------------------------------------------------------------------------------------- */
static void making_clear(making *m)
{
    free(m->rounded.data);
    free(m->nearest.data);
    free(m->row.data);
    free(m->plane[0]);
    free(m->elements);
    free(m->pass);
    free(m->step);
    free(m->back);
}

static attest_status making_init(making *m, attest_golden *golden, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_rounding_counts counts = { 0 }, of_doubles = { 0 };
    attest_tensor_describe(&m->row, m->p, m->id, 0);
    ATTEST_TRY(attest_truth_rounded(&m->rounded, m->truth, m->id, m->row.dtype, &counts, err));
    ATTEST_TRY(attest_truth_rounded(&m->nearest, m->truth, m->id, ATTEST_F64, &of_doubles, err));
    golden->open += counts.at_cap;
    m->count = attest_tensor_count(&m->rounded);
    m->width = m->row.rank == 4 ? m->p->e : 1;
    memset(m->row.stride, 0, sizeof m->row.stride);
    m->row.stride[3] = 1;
    m->row.data = calloc((size_t)m->width, attest_dtype_bytes(m->row.dtype));
    m->plane[0] = calloc((size_t)m->count, PLANES * sizeof(double));
    m->elements = calloc((size_t)m->width, 2 * sizeof *m->elements);
    m->pass = calloc((size_t)m->width, 2 * sizeof *m->pass);
    m->step = calloc((size_t)m->width, sizeof *m->step);
    m->back = calloc((size_t)m->width, sizeof *m->back);
    if (!m->row.data || !m->plane[0] || !m->elements || !m->pass || !m->step || !m->back)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld bounds", (long long)m->count));
    for (int k = 1; k < PLANES; k++)
        m->plane[k] = m->plane[0] + k * m->count;
    m->found = m->elements + m->width;
    m->fail = m->pass + m->width;
out:
    return status;
}

static attest_status write_files(const making *m, const char *dir, const char *folder, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH], name[32], file[ATTEST_EXCHANGE_FILE];
    const attest_tensor planes = { .data = m->plane[0],
                                   .dtype = ATTEST_F64,
                                   .rank = 2,
                                   .shape = { PLANES, m->count, 1, 1 },
                                   .stride = { m->count, 1 } };
    attest_status status = ATTEST_OK;
    attest_tensor_id_print(name, sizeof name, m->id);
    snprintf(file, sizeof file, "%s.truth.npy", name);
    ATTEST_TRY(attest_exchange_path(path, dir, folder, file, err));
    ATTEST_TRY(attest_npy_write(path, &m->rounded, err));
    snprintf(file, sizeof file, "%s.golden.npy", name);
    ATTEST_TRY(attest_exchange_path(path, dir, folder, file, err));
    ATTEST_TRY(attest_npy_write(path, &planes, err));
out:
    return status;
}

/* What outputs that are all within are worth: the verdict over the rounded truths of `outputs`, which take this one
 * over; no pass where a row beyond the judge's sample has elements that are left out.  `left`: of all outputs. */
static attest_status best_verdict(int64_t *verdict, making *m, attest_bundle *outputs, int64_t left,
                                  const attest_golden *golden, const attest_prepared *prepared, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    attest_result_init(&result);
    snprintf(result.kernel, sizeof result.kernel, "file");
    attest_result_describe(&result, &prepared->c, prepared->line, prepared->hash);
    ATTEST_TRY(attest_bundle_adopt(outputs, m->id, &m->rounded, err));
    m->rounded.data = NULL;
    ATTEST_TRY(attest_exchange_judge(&result, prepared, outputs, m->declared, golden->suite, err));
    const int64_t counted = result.elements_unbounded + result.elements_illposed + result.elements_absent +
                            result.elements_without_truth;
    *verdict = result.verdict == ATTEST_PASS && left > counted ? (int64_t)ATTEST_PARTIAL : result.verdict;
out:
    return status;
}

static int print_line(FILE *list, const making *m, const char *folder, int64_t verdict)
{
    static const char *const types[] = {
        [ATTEST_F32] = "<f4", [ATTEST_F64] = "<f8", [ATTEST_F16] = "<f2", [ATTEST_BF16] = "<u2"
    };
    char name[32];
    attest_tensor_id_print(name, sizeof name, m->id);
    int bad = fprintf(list, "%s %s %s %lld %s (", folder, name, types[m->rounded.dtype], (long long)m->count,
                      attest_verdict_names[verdict]) < 0;
    for (int axis = 0; axis < m->rounded.rank; axis++)
        bad |= fprintf(list, "%s%lld", axis ? ", " : "", (long long)m->rounded.shape[axis]) < 0;
    return bad || fputs(")\n", list) < 0;
}

/* An output of a case, and what the case has so far: the outputs before it, how many elements of them are left out. */
typedef struct casing {
    const attest_prepared *prepared;
    const attest_declared *declared;
    const char *folder;
    attest_bundle *outputs;
    int64_t left;
} casing;

static attest_status make_output(attest_golden *golden, casing *done, attest_tensor_id id, attest_error *err)
{
    const attest_prepared *prepared = done->prepared;
    attest_status status = ATTEST_OK;
    int64_t verdict;
    making m = { .truth = prepared->truth, .p = &prepared->c.problem, .declared = done->declared, .id = id };
    ATTEST_TRY(making_init(&m, golden, err));
    for (int64_t r = 0; r < m.count / m.width; r++) {
        const attest_row at = { r / m.p->n / m.p->hq, r / m.p->n % m.p->hq, r % m.p->n };
        ATTEST_TRY(make_row(&m, at, err));
    }
    ATTEST_TRY(write_files(&m, golden->dir, done->folder, err));
    done->left += m.left;
    ATTEST_TRY(best_verdict(&verdict, &m, done->outputs, done->left, golden, prepared, err));
    golden->lines++;
    if (print_line(golden->list, &m, done->folder, verdict))
        status = attest_print_failed(err, ATTEST_GOLDEN_LIST);
out:
    making_clear(&m);
    return status;
}

attest_status attest_golden_begin(const attest_golden *golden, attest_error *err)
{
    static const char text[] = "# attest golden 1: truth and bounds; the declaration that they are for: cases.jsonl\n"
                               "# case output type elements verdict shape\n";
    return fputs(text, golden->list) < 0 ? attest_print_failed(err, ATTEST_GOLDEN_LIST) : ATTEST_OK;
}

attest_status attest_golden_end(const attest_golden *golden, attest_error *err)
{
    return fprintf(golden->list, "# end %lld\n", (long long)golden->lines) < 0
               ? attest_print_failed(err, ATTEST_GOLDEN_LIST)
               : ATTEST_OK;
}

attest_status attest_golden_case(attest_golden *golden, const attest_prepared *prepared, const char *folder,
                                 const attest_declared *declared, attest_error *err)
{
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O }, lse = { ATTEST_KIND_ROLE, ATTEST_LSE };
    casing done = { .prepared = prepared, .declared = declared, .folder = folder };
    attest_status status = ATTEST_OK;
    char why[256];
    attest_reference_case(prepared->line);
    ATTEST_TRY(attest_bundle_new(&done.outputs, err));
    ATTEST_TRY(make_output(golden, &done, o, err));
    if (attest_problem_has(&prepared->c.problem, lse, why, sizeof why) &&
        !(declared->flags & (ATTEST_LSE_BASE2 | ATTEST_LSE_WITH_SINK)))
        status = make_output(golden, &done, lse, err);
out:
    attest_bundle_free(done.outputs);
    attest_reference_case(NULL);
    return status;
}
