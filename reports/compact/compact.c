/* compact.c - what is counted and what is kept; see compact.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compact/compact_private.h"

attest_status attest_compact_new(attest_compact **compact, attest_error *err)
{
    *compact = calloc(1, sizeof **compact);
    return *compact ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "no memory for compact results");
}

void attest_compact_free(attest_compact *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->classes; i++)
        for (int k = 0; k < EXTREMES; k++)
            free(c->class[i].kept[k]);
    free(c->variant);
    free(c->class);
    free(c->kernel);
    free(c);
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */
static int is_variant(const void *entry, const attest_result *r)
{
    const compact_variant *v = entry;
    return strcmp(v->variant, r->variant) == 0 && strcmp(v->kernel, r->kernel) == 0;
}

static int is_drawn_variant(const void *entry, const attest_result *r)
{
    return ((const compact_variant *)entry)->drawn && is_variant(entry, r);
}

static int is_fixed_variant(const void *entry, const attest_result *r)
{
    return !((const compact_variant *)entry)->drawn && is_variant(entry, r);
}

static int is_class(const void *entry, const attest_result *r)
{
    const compact_class *c = entry;
    return strcmp(c->class, r->class) == 0 && strcmp(c->kernel, r->kernel) == 0;
}

static int is_kernel(const void *entry, const attest_result *r)
{
    return strcmp(((const compact_kernel *)entry)->kernel, r->kernel) == 0;
}

static compact_variant *variant_of(attest_compact *c, const attest_result *r, int drawn)
{
    int fresh;
    void *list = c->variant;
    compact_variant *v = attest_find_or_add(&list, &c->variants, &c->variant_capacity, sizeof *v,
                                            drawn ? is_drawn_variant : is_fixed_variant, r, &fresh);
    c->variant = list;
    if (v && fresh) {
        memcpy(v->kernel, r->kernel, sizeof v->kernel);
        memcpy(v->variant, r->variant, sizeof v->variant);
        v->drawn = drawn;
        v->worst_ratio = v->worst_ulp = NAN;
    }
    return v;
}

static compact_class *class_of(attest_compact *c, const attest_result *r)
{
    int fresh;
    void *list = c->class;
    compact_class *k = attest_find_or_add(&list, &c->classes, &c->class_capacity, sizeof *k, is_class, r, &fresh);
    c->class = list;
    if (k && fresh) {
        memcpy(k->kernel, r->kernel, sizeof k->kernel);
        memcpy(k->class, r->class, sizeof k->class);
        k->largest = NAN;
    }
    return k;
}

static compact_kernel *kernel_of(attest_compact *c, const attest_result *r)
{
    int fresh;
    void *list = c->kernel;
    compact_kernel *k = attest_find_or_add(&list, &c->kernels, &c->kernel_capacity, sizeof *k, is_kernel, r, &fresh);
    c->kernel = list;
    if (k && fresh)
        memcpy(k->kernel, r->kernel, sizeof k->kernel);
    return k;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */
static size_t bin_of(double x)
{
    const double at = floor((log2(x) - BINS_FIRST) * BINS_AN_OCTAVE) + 1;
    return !(x > 0) || at < 1 ? 0 : at > BINS - 1 ? BINS - 1 : (size_t)at;
}

static void count_worst(compact_variant *v, const attest_result *r)
{
    if (r->ratio_hi == r->ratio_hi && !(r->ratio_hi <= v->worst_ratio)) {
        v->worst_ratio = r->ratio_hi;
        memcpy(v->worst_problem, r->problem, sizeof v->worst_problem);
    }
    if (r->ulp_hi == r->ulp_hi && !(r->ulp_hi <= v->worst_ulp))
        v->worst_ulp = r->ulp_hi;
    if (r->verdict == ATTEST_PASS && r->why[0] && v->notes++ == 0)
        memcpy(v->note, r->why, sizeof v->note);
}

static void count_rows(compact_variant *v, const attest_result *r)
{
    v->judged += r->rows_judged > 0;
    v->rows += r->rows_judged;
    v->negative_weight += r->rows_negative_weight;
    v->negative_sum += r->rows_negative_sum;
    v->vanishing += r->rows_vanishing;
    if (r->telling != r->telling || !attest_result_judged_good(r))
        return;
    v->powered++;
    v->telling += r->telling;
    v->keyed += r->keys_seen == r->keys_seen;
    v->keys_seen += r->keys_seen == r->keys_seen ? r->keys_seen : 0;
}

static void count_shares(compact_class *k, const attest_result *r)
{
    const double term[ATTEST_BOUND_TERMS] = { r->term_score, r->term_exp, r->term_cast, r->term_accumulation,
                                              r->term_division };
    double sum = 0;
    for (size_t t = 0; t < ATTEST_BOUND_TERMS; t++)
        sum += term[t];
    if (!(sum > 0 && isfinite(sum)))
        return;
    k->shared++;
    for (size_t t = 0; t < ATTEST_BOUND_TERMS; t++)
        k->share[t] += term[t] / sum;
}

static int has_class(const attest_result *r)
{
    return *r->class && r->ratio_hi == r->ratio_hi && r->verdict != ATTEST_MEASURED;
}

attest_status attest_compact_count(attest_compact *c, const attest_result *r, const attest_compact_mark *mark,
                                   attest_error *err)
{
    compact_variant *v = variant_of(c, r, mark->drawn);
    compact_class *k = has_class(r) ? class_of(c, r) : NULL;
    if (!v || (has_class(r) && !k))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels and variants", c->variants + 1);
    v->verdict[r->verdict]++;
    v->evidence |= mark->evidence;
    count_worst(v, r);
    count_rows(v, r);
    if (!k)
        return ATTEST_OK;
    k->cases++;
    k->ratio[bin_of(r->ratio_hi)]++;
    k->largest = r->ratio_hi <= k->largest ? k->largest : r->ratio_hi;
    if (r->ratio_median == r->ratio_median) {
        k->middles++;
        k->middle[bin_of(r->ratio_median)]++;
    }
    if (r->noticed == r->noticed)
        k->noticed[bin_of(r->noticed)]++;
    count_shares(k, r);
    return ATTEST_OK;
}

/* ---- kept -------------------------------------------------------------------------------------------------------- */
/* 1: the first of its kernel with this exit code, strict or not, or one of the first of a bad verdict. */
static int is_listed(compact_kernel *k, const attest_result *r)
{
    static const int codes[] = { 0, 1, 3, 4, 77 };
    const size_t count = sizeof codes / sizeof codes[0];
    unsigned exits = 0;
    for (size_t i = 0; i < count; i++)
        exits |= (unsigned)(attest_result_exit(r, 0) == codes[i]) << i |
                 (unsigned)(attest_result_exit(r, 1) == codes[i]) << (i + count);
    const int fresh = (exits & ~k->exits) != 0 || !*r->problem;
    const int bad = attest_result_bad(r) && k->bad[r->verdict] < ATTEST_COMPACT_BAD;
    k->exits |= exits;
    k->bad[r->verdict] += attest_result_bad(r) && (fresh || bad);
    return fresh || bad;
}

static attest_status keep_as(compact_class *k, extreme which, double value, const attest_result *r,
                             const attest_compact_mark *mark, int listed, attest_error *err)
{
    compact_kept *kept = k->kept[which];
    if (value != value || (kept && !(value > kept->value)))
        return ATTEST_OK;
    if (!kept && !(k->kept[which] = kept = malloc(sizeof *kept)))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a result");
    *kept = (compact_kept){ *r, *mark, value, listed };
    return ATTEST_OK;
}

attest_status attest_compact_keep(int *listed, attest_compact *c, const attest_result *r,
                                  const attest_compact_mark *mark, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double value[EXTREMES] = { r->ratio_hi, r->ulp_hi, -r->noticed, -mark->small, mark->large };
    compact_kernel *kernel = kernel_of(c, r);
    compact_class *k = has_class(r) ? class_of(c, r) : NULL;
    if (!kernel || (has_class(r) && !k))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", c->kernels + 1);
    *listed = is_listed(kernel, r);
    for (int which = 0; which < EXTREMES && k; which++)
        ATTEST_TRY(keep_as(k, (extreme)which, value[which], r, mark, *listed, err));
out:
    return status;
}

/* It is the result of an earlier extreme of the class. */
static int is_again(const compact_class *k, int which)
{
    for (int i = 0; i < which; i++)
        if (k->kept[i] && strcmp(k->kept[i]->result.problem, k->kept[which]->result.problem) == 0)
            return 1;
    return 0;
}

static int by_variant(const void *a, const void *b)
{
    const compact_variant *x = a, *y = b;
    const int kernel = strcmp(x->kernel, y->kernel), variant = strcmp(x->variant, y->variant);
    return kernel ? kernel : variant ? variant : (x->drawn > y->drawn) - (x->drawn < y->drawn);
}

static int by_class(const void *a, const void *b)
{
    const compact_class *x = a, *y = b;
    const int kernel = strcmp(x->kernel, y->kernel);
    return kernel ? kernel : strcmp(x->class, y->class);
}

attest_status attest_compact_extremes(attest_compact *c, attest_compact_take take, void *context, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (c->variants > 0) /* threads come in any order */
        qsort(c->variant, c->variants, sizeof *c->variant, by_variant);
    if (c->classes > 0)
        qsort(c->class, c->classes, sizeof *c->class, by_class);
    for (size_t i = 0; i < c->classes; i++)
        for (int which = 0; which < EXTREMES; which++) {
            compact_kept *kept = c->class[i].kept[which];
            if (!kept || kept->listed || is_again(&c->class[i], which))
                continue;
            ATTEST_TRY(take(context, &kept->result, &kept->mark, err));
            kept->listed = 1;
        }
out:
    return status;
}

/* ---- afterwards -------------------------------------------------------------------------------------------------- */
void attest_compact_change(attest_compact *c, const attest_result *was, const attest_result *is, int drawn)
{
    compact_variant *v = variant_of(c, was, drawn);
    if (!v || v->verdict[was->verdict] == 0)
        return;
    v->verdict[was->verdict]--;
    v->verdict[is->verdict]++;
}

/* Good verdicts of a kernel's variant lose their evidence; a result of drawn cases is a matter of chance. */
static void lose_evidence(compact_variant *v)
{
    static const int good[] = { ATTEST_PASS, ATTEST_PARTIAL, ATTEST_ILLPOSED };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        v->verdict[ATTEST_NO_EVIDENCE] += v->verdict[good[i]];
        v->verdict[good[i]] = 0;
    }
    v->notes = 0;
}

int attest_compact_has_evidence(const attest_compact *c, const char *kernel, const char *variant)
{
    int64_t evidence = 0;
    for (size_t i = 0; i < c->variants; i++)
        if (strcmp(c->variant[i].kernel, kernel) == 0 && strcmp(c->variant[i].variant, variant) == 0)
            evidence |= c->variant[i].evidence;
    return evidence != 0;
}

void attest_compact_no_evidence(attest_compact *c)
{
    for (size_t i = 0; i < c->variants; i++)
        if (!c->variant[i].drawn && *c->variant[i].variant &&
            !attest_compact_has_evidence(c, c->variant[i].kernel, c->variant[i].variant))
            lose_evidence(&c->variant[i]);
}

int64_t attest_compact_total(const attest_compact *c)
{
    int64_t total = 0;
    for (size_t i = 0; i < c->variants; i++)
        for (int k = 0; k < ATTEST_VERDICT_COUNT; k++)
            total += c->variant[i].verdict[k];
    return total;
}

void attest_compact_cases(attest_compact *c, int64_t cases) { c->cases = cases; }

/* ---- sums of runs ------------------------------------------------------------------------------------------------ */
static void add_counts(int64_t *to, const int64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static void add_variant(compact_variant *to, const compact_variant *from)
{
    to->evidence |= from->evidence;
    add_counts(to->verdict, from->verdict, ATTEST_VERDICT_COUNT);
    if (from->worst_ratio == from->worst_ratio && !(from->worst_ratio <= to->worst_ratio)) {
        to->worst_ratio = from->worst_ratio;
        memcpy(to->worst_problem, from->worst_problem, sizeof to->worst_problem);
    }
    to->worst_ulp = from->worst_ulp != from->worst_ulp || from->worst_ulp <= to->worst_ulp ? to->worst_ulp
                                                                                           : from->worst_ulp;
    if (to->notes == 0)
        memcpy(to->note, from->note, sizeof to->note);
    to->notes += from->notes;
    to->judged += from->judged;
    to->rows += from->rows;
    to->negative_weight += from->negative_weight;
    to->negative_sum += from->negative_sum;
    to->vanishing += from->vanishing;
    to->powered += from->powered;
    to->keyed += from->keyed;
    to->telling += from->telling;
    to->keys_seen += from->keys_seen;
}

void compact_add_class(compact_class *to, const compact_class *from)
{
    to->cases += from->cases;
    to->middles += from->middles;
    to->shared += from->shared;
    to->largest = from->largest <= to->largest ? to->largest : from->largest;
    for (int t = 0; t < ATTEST_BOUND_TERMS; t++)
        to->share[t] += from->share[t];
    add_counts(to->ratio, from->ratio, BINS);
    add_counts(to->middle, from->middle, BINS);
    add_counts(to->noticed, from->noticed, BINS);
}

/* Results without a case are told by who merges, not added: each run has the same. */
attest_status attest_compact_add(attest_compact *c, const attest_compact *other, attest_error *err)
{
    attest_result key;
    attest_result_init(&key);
    c->cases += other->cases;
    for (size_t i = 0; i < other->variants; i++) {
        const compact_variant *from = &other->variant[i];
        memcpy(key.kernel, from->kernel, sizeof key.kernel);
        memcpy(key.variant, from->variant, sizeof key.variant);
        compact_variant *to = *from->variant ? variant_of(c, &key, from->drawn != 0) : NULL;
        if (*from->variant && !to)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels and variants", c->variants + 1);
        if (to)
            add_variant(to, from);
    }
    for (size_t i = 0; i < other->classes; i++) {
        memcpy(key.kernel, other->class[i].kernel, sizeof key.kernel);
        memcpy(key.class, other->class[i].class, sizeof key.class);
        compact_class *to = class_of(c, &key);
        if (!to)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu classes", c->classes + 1);
        compact_add_class(to, &other->class[i]);
    }
    return ATTEST_OK;
}
