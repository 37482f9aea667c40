/* scene_check.h - what a kernel computed beside the witness (tests/oracle.h), and the cases that all suites of
 * kernels/cpu make of it.
 *
 * No tolerance stands here: an element may differ from the witness by the bound that reference/judge has for any kernel
 * of these numerics.  The judge's own truth is not asked.
 */
#ifndef ATTEST_TEST_SCENE_CHECK_H
#define ATTEST_TEST_SCENE_CHECK_H

#include "tests/kernels/cpu/scene.h"

/* ---- elements -------------------------------------------------------------------------------------------------- */

/* |got - want| <= most, and the witness knows it 2^10 times better; an infinity where that may round to one. */
static inline int scene_near(double got, const arb_t want, double most, uint32_t dtype)
{
    const double middle = arf_get_d(arb_midref(want), ARF_RND_NEAR);
    arb_t gap;
    arf_t least;
    if (!arb_is_finite(want) || 1024 * ref_mag_upper(arb_radref(want)) > most)
        return 0;
    if (isinf(got))
        return attest_to_f64(dtype, attest_from_f64(dtype, middle + copysign(most, middle))) == got;
    arb_init(gap);
    arf_init(least);
    arb_set_d(gap, got);
    arb_sub(gap, gap, want, 256);
    arb_get_abs_lbound_arf(least, gap, 53);
    const int near = !isnan(got) && arf_cmp_d(least, most) <= 0;
    arf_clear(least);
    arb_clear(gap);
    return near;
}

/* 1 if the element was compared: it has a value, and a bound; an empty row is exact. */
static inline int scene_check_element(const scene *s, const attest_element *judged, const arb_t want,
                                      const attest_tensor *t, int64_t at, const char *what)
{
    const double got = attest_load(t, at), middle = arf_get_d(arb_midref(want), ARF_RND_NEAR);
    const int empty = judged->class == ATTEST_CLASS_EMPTY;
    if (!empty && judged->class != ATTEST_CLASS_NORMAL && judged->class != ATTEST_CLASS_PREMATURE_OVERFLOW)
        return 0;
    ck_assert_msg(empty ? got == middle : scene_near(got, want, judged->bound, t->dtype),
                  "%s: %s: got %.9g, want %.9g +- %.3g", s->where, what, got, middle, judged->bound);
    return 1;
}

/* Every output of row (b,h,i) that the kernel gives; 1 if o was compared. */
static inline int scene_check_row(scene *s, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &s->c.problem;
    const ref_witness *row = oracle_row(&s->want, b, h, i);
    attest_element *judged = malloc((size_t)p->e * sizeof *judged);
    int compared = 0;
    arb_t want;
    arb_init(want);
    ck_assert_ptr_nonnull(judged);
    for (uint32_t role = ATTEST_O; role <= ATTEST_LSE; role++) {
        const attest_tensor_id id = { ATTEST_KIND_ROLE, role };
        const attest_tensor *t = attest_bundle_get(s->bundle, id);
        if (!t)
            continue;
        SCENE_MUST(attest_judge_row(judged, NULL, s->bound, &s->declared.numerics, s->declared.flags, id, t,
                                    (attest_row){ b, h, i }, &s->err),
                   s);
        for (int64_t c = 0; c < (role == ATTEST_O || role == ATTEST_U ? p->e : 1); c++) {
            char what[64];
            snprintf(what, sizeof what, "%s[%d,%d,%d,%d]", attest_roles[role].name, (int)b, (int)h, (int)i, (int)c);
            oracle_value(want, row, role, c);
            compared |= scene_check_element(s, &judged[c], want, t, attest_offset(t, b, h, i, c), what) &&
                        role == ATTEST_O;
        }
    }
    arb_clear(want);
    free(judged);
    return compared;
}

/* 1 if the index tuple number `row` of dim^n is non-decreasing: a row of the packed layout, in its order. */
static inline int scene_sorted(int64_t row, uint32_t n, int64_t dim)
{
    for (uint32_t i = 1; i < n; i++, row /= dim)
        if (row / dim % dim > row % dim)
            return 0;
    return 1;
}

/* ht.n or zt.n of KV head (b,g), each row of its layout. */
static inline void scene_check_state(scene *s, attest_tensor_id id, int64_t b, int64_t g)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *t = attest_bundle_get(s->bundle, id);
    const int packed = (s->kernel->flags & ATTEST_PACKED_STATE) != 0;
    const int64_t rows = wit_state_rows(p, id.index), width = t->shape[3];
    attest_element *judged = malloc((size_t)(rows * width) * sizeof *judged);
    arb_ptr want = _arb_vec_init((slong)(rows * width));
    int64_t row = 0;
    ck_assert_ptr_nonnull(judged);
    oracle_state(want, &s->want, id, b, g);
    SCENE_MUST(
        attest_judge_state(judged, s->bound, &s->declared.numerics, s->declared.flags, id, packed, t, b, g, &s->err),
        s);
    for (int64_t at = 0; at < rows; at++) {
        if (packed && !scene_sorted(at, id.index, wit_dim(p)))
            continue;
        for (int64_t c = 0; c < width; c++) {
            char what[64];
            snprintf(what, sizeof what, "%s.%d[%d,%d,%d,%d]", id.kind == ATTEST_KIND_HT ? "ht" : "zt", (int)id.index,
                     (int)b, (int)g, (int)row, (int)c);
            scene_check_element(s, &judged[row * width + c], want + at * width + c, t, attest_offset(t, b, g, row, c),
                                what);
        }
        row++;
    }
    ck_assert_msg(row == t->shape[2], "%s: state %d has %d rows, want %d", s->where, (int)id.index, (int)t->shape[2],
                  (int)row);
    _arb_vec_clear(want, (slong)(rows * width));
    free(judged);
}

/* All outputs; 1 if an o was compared. */
static inline int scene_check(scene *s)
{
    const attest_problem *p = &s->c.problem;
    int compared = 0;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++)
        compared |= scene_check_row(s, row / p->n / p->hq, row / p->n % p->hq, row % p->n);
    for (uint32_t n = 0; n < ATTEST_STATE_SLOTS; n++)
        for (uint32_t kind = ATTEST_KIND_HT; kind <= ATTEST_KIND_ZT; kind++)
            for (int64_t head = 0; head < p->b * p->hkv; head++)
                if (attest_bundle_get(s->bundle, (attest_tensor_id){ kind, n }))
                    scene_check_state(s, (attest_tensor_id){ kind, n }, head / p->hkv, head % p->hkv);
    return compared;
}

/* ---- what a row must not read ---------------------------------------------------------------------------------- */

/* NaN in tokens [from, end) of a tensor [B,H,S,..] of batch entry b. */
static inline void scene_poison(const scene *s, attest_role role, int64_t b, int64_t from)
{
    const attest_tensor *t = attest_bundle_role(s->bundle, role);
    for (int64_t h = 0; t && h < t->shape[1]; h++)
        for (int64_t i = from; i < t->shape[2]; i++)
            for (int64_t c = 0; c < t->shape[3]; c++)
                attest_store_bits(t, attest_offset(t, b, h, i, c), attest_from_f64(t->dtype, NAN));
}

/* NaN in every token that queries before `rows` of batch entry b do not read. */
static inline void scene_poison_after(const scene *s, int64_t b, int64_t rows)
{
    static const attest_role queries[] = { ATTEST_Q, ATTEST_GOUT, ATTEST_Q_HEAD_LOGITS };
    static const attest_role keys[] = { ATTEST_K, ATTEST_V, ATTEST_GIN, ATTEST_K_HEAD_LOGITS, ATTEST_BETA };
    const attest_problem *p = &s->c.problem;
    const attest_tensor *a = attest_bundle_role(s->bundle, ATTEST_DECAY);
    int64_t first, last;
    const attest_lengths of = attest_bundle_lengths(p, s->bundle, b);
    attest_visible(p, of, (rows < of.queries ? rows : of.queries) - 1, &first, &last);
    for (int i = 0; i < 3; i++)
        scene_poison(s, queries[i], b, rows);
    for (int i = 0; i < 5; i++)
        scene_poison(s, keys[i], b, last);
    scene_poison(s, ATTEST_DECAY, b, rows);
    for (int64_t at = 0; a && !p->axis[ATTEST_AXIS_STATE].value && at < a->shape[1] * a->shape[3]; at++)
        attest_store_bits(a, attest_offset(a, b, at / a->shape[3], 0, at % a->shape[3]),
                          attest_from_f64(a->dtype, NAN)); /* a_0 decays nothing */
}

/* The bits of o of queries before `rows` do not change when all that they do not read becomes NaN. */
static inline void scene_check_unread(scene *s, int64_t rows)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *o = attest_bundle_role(s->bundle, ATTEST_O);
    const size_t bytes = attest_tensor_bytes(o), row = (size_t)p->e * attest_dtype_bytes(o->dtype);
    scene_run(s);
    char *before = malloc(bytes);
    ck_assert_ptr_nonnull(before);
    memcpy(before, o->data, bytes);
    for (int64_t b = 0; b < p->b; b++)
        scene_poison_after(s, b, rows);
    scene_run(s);
    for (int64_t at = 0; at < p->b * p->hq * p->n; at++)
        ck_assert_msg(at % p->n >= rows ||
                          memcmp(before + (size_t)at * row, (char *)o->data + (size_t)at * row, row) == 0,
                      "%s: a NaN that row %lld does not read changed it", s->where, (long long)at);
    free(before);
}

/* ---- whole cases ------------------------------------------------------------------------------------------------- */

/* 1 if the kernel serves the line, and is right. */
static inline int scene_check_line(const attest_kernel *kernel, const char *line)
{
    scene s;
    if (!scene_serves(&s, kernel, line))
        return 0;
    scene_open(&s);
    scene_run(&s);
    scene_check(&s);
    scene_check_unread(&s, (s.c.problem.n + 1) / 2);
    scene_close(&s);
    return 1;
}

/* Tokens [from, from + n) of a tensor [B,H,S,..]. */
static inline attest_tensor scene_slice(const attest_tensor *t, int64_t from, int64_t n)
{
    attest_tensor part = *t;
    part.shape[2] = n;
    part.data = (char *)t->data + (size_t)(from * t->stride[2]) * attest_dtype_bytes(t->dtype);
    return part;
}

/* The tokens from `cut` on, started from the states that the tokens before leave, in a second pass over the same
 * memory: every output is that of one pass (a state in float is carried without a rounding). */
static inline void scene_check_carried(const attest_kernel *kernel, const char *variant, int64_t cut)
{
    scene s;
    char line[256];
    snprintf(line, sizeof line, "variant=%s mask=causal b=2 hq=4 hkv=2 n=12 d=3 e=2 chunk=4", variant);
    ck_assert_msg(scene_serves(&s, kernel, line), "%s", s.where);
    scene_open(&s);
    scene_blank(&s);
    for (int pass = 0; pass < 2; pass++) {
        attest_problem p = s.c.problem;
        attest_view view = s.view;
        attest_tensor part[ATTEST_TENSOR_ROLES];
        p.n = p.m = pass ? p.n - cut : cut;
        for (uint32_t r = 0; r < ATTEST_TENSOR_ROLES; r++)
            if (view.role[r] && view.role[r]->rank > 2 && view.role[r]->shape[2] == s.c.problem.n) {
                part[r] = scene_slice(view.role[r], pass ? cut : 0, p.n);
                view.role[r] = &part[r];
            }
        if (pass) {
            p.axis[ATTEST_AXIS_STATE].value = ATTEST_STATE_DRAW;
            memcpy(view.h0, view.ht, sizeof view.h0); /* in place: read before it is written */
            memcpy(view.z0, view.zt, sizeof view.z0);
        }
        scene_run_on(&s, &p, &view);
    }
    ck_assert_msg(scene_check(&s), "%s: nothing compared", s.where);
    scene_close(&s);
}

#endif
