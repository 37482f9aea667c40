/* sim_softmax.c - exponential weights: two-pass, online, split and direct schedules; a running mean. */
#include "tests/simulators/sim.h"

static const long double log2e = 1.442695040888963407359924681001892137L;

/* e^(score - top), by the base that the options name. */
static num weight(sim *s, num score, num top)
{
    const tape_unit *acc = &s->unit.acc;
    switch (s->options->exp) {
    case EXP_BASE2: return sim_call(s, &s->unit.exp, TAPE_EXP2, sim_sub(s, acc, score, top));
    case EXP_BASE2_LAST: {
        const num x = sim_mul(s, acc, sim_sub(s, acc, score, top), sim_number(s, log2e));
        return sim_call(s, &s->unit.exp, TAPE_EXP2, x);
    }
    case EXP_FMA_STORED: { /* top is fl(top c) already */
        const num x = sim_sub(s, acc, sim_mul(s, NULL, score, sim_number(s, log2e)), top);
        return sim_call(s, &s->unit.exp, TAPE_EXP2, x);
    }
    case EXP_FMA:
    case EXP_FMA_BOTH: { /* fma(score, c, -fl(top c)) */
        const num c = sim_number(s, log2e), shift = sim_mul(s, acc, top, c);
        const num x = sim_sub(s, acc, sim_mul(s, NULL, score, c), shift);
        return sim_call(s, &s->unit.exp, TAPE_EXP2, x);
    }
    default: return sim_call(s, &s->unit.exp, TAPE_EXP, sim_sub(s, acc, score, top));
    }
}

/* e^(before - top): what older sums are multiplied by. */
static num rescale(sim *s, num before, num top)
{
    const tape_unit *acc = &s->unit.acc;
    num x;
    if (s->options->exp != EXP_FMA && s->options->exp != EXP_FMA_STORED)
        return weight(s, before, top);
    x = sim_sub(s, acc, before, top);
    if (s->options->exp == EXP_FMA)
        x = sim_mul(s, acc, x, sim_number(s, log2e));
    return sim_call(s, &s->unit.exp, TAPE_EXP2, x);
}

/* Sums of weights over some keys, all taken off `top`. */
typedef struct part {
    num top, sum[SIM_VALUES], below;
} part;

static num shift_free(sim *s, num score)
{
    const num zero = tape_given(&s->tape, 0);
    return s->options->exp == EXP_NATURAL ? sim_call(s, &s->unit.exp, TAPE_EXP, score) : weight(s, score, zero);
}

static void weigh(sim *s, num *w, int64_t first, int64_t last, num top)
{
    for (int64_t j = first; j < last; j++) {
        w[j] = top < 0 ? shift_free(s, s->score[j]) : weight(s, s->score[j], top);
        const num decay = sim_decays(s) ? sim_decay_of(s, j, s->i, 0) : -1;
        if (decay >= 0)
            w[j] = sim_mul(s, &s->unit.acc, w[j], decay);
    }
}

/* Sums of those keys [first, last) that are seen, one at least; top < 0: weights are not shifted. */
static void sums(sim *s, part *p, int64_t first, int64_t last, num top)
{
    num all[SIM_KEYS], w[SIM_KEYS], cast[SIM_KEYS], column[SIM_KEYS], left[SIM_KEYS];
    weigh(s, all, first, last, top);
    p->top = top;
    const int64_t count = sim_seen(s, w, all, first, last);
    for (int64_t n = 0; n < count; n++)
        cast[n] = s->casts ? sim_round(s, &s->unit.cast, w[n]) : w[n];
    p->below = sim_total(s, s->options->cast_in_sum ? cast : w, count);
    if (s->options->divide != DIVIDE_LAST)
        for (int64_t n = 0; n < count; n++) {
            const int then = s->options->divide == DIVIDE_THEN_CAST;
            w[n] = cast[n] = sim_div(s, then ? w[n] : cast[n], p->below);
            if (then && s->casts)
                cast[n] = sim_round(s, &s->unit.cast, cast[n]);
        }
    for (int64_t n = 0; n < count; n++)
        cast[n] = sim_dropped(s, w[n], cast[n]);
    for (int64_t c = 0; c < s->p->e; c++) {
        for (int64_t j = first; j < last; j++)
            all[j] = s->v[j][c];
        sim_seen(s, column, all, first, last);
        for (int64_t n = 0; n < count; n++)
            left[n] = cast[n];
        const int64_t kept = sim_keep(s, left, column, first, last);
        p->sum[c] = kept > 0 ? sim_dot(s, left, column, kept) : tape_given(&s->tape, 0);
    }
}

/* The largest score of those keys; -1: none of them is seen. */
static num largest(sim *s, int64_t first, int64_t last)
{
    num seen[SIM_KEYS];
    const int64_t count = sim_seen(s, seen, s->score, first, last);
    return count > 0 ? sim_largest(s, seen, count) : -1;
}

static void online(sim *s, part *all, int64_t first, int64_t last)
{
    const int64_t tile = s->numerics->tile > 0 ? s->numerics->tile : 1;
    const tape_unit *unit = &s->unit.sum;
    int begun = 0;
    for (int64_t t = first; t < last; t += tile) {
        const int64_t end = last < t + tile ? last : t + tile;
        num top = largest(s, t, end);
        const int seen = top >= 0;
        part one = { 0 };
        if (!seen && !begun)
            continue;
        if (seen && s->options->exp == EXP_FMA_STORED)
            top = sim_mul(s, &s->unit.acc, top, sim_number(s, log2e));
        if (begun)
            top = seen ? sim_max(s, all->top, top) : all->top;
        if (seen)
            sums(s, &one, t, end, top);
        one.top = top;
        if (begun) { /* behind hidden keys alone by e^0, which nobody promises to be 1 */
            const num alpha = rescale(s, all->top, top), l = sim_mul(s, unit, all->below, alpha);
            one.below = seen ? sim_add(s, unit, l, one.below) : l;
            for (int64_t c = 0; c < s->p->e; c++) {
                const num u = sim_mul(s, unit, all->sum[c], alpha);
                one.sum[c] = seen ? sim_add(s, unit, u, one.sum[c]) : u;
            }
        }
        begun = 1;
        *all = one;
    }
}

/* ln or log2 of a sum, as the scores are. */
static num logarithm(sim *s, num x)
{
    return sim_call(s, &s->unit.log, s->options->exp == EXP_BASE2 ? TAPE_LOG2 : TAPE_LOG, x);
}

static num lse_of(sim *s, const part *p) { return sim_add(s, &s->unit.acc, p->top, logarithm(s, p->below)); }

/* Channel c of a part's quotient, as the merge reads it. */
static num quotient(sim *s, const part *p, int64_t c)
{
    const num o = sim_div(s, p->sum[c], p->below);
    return s->options->parts_stored ? sim_round(s, s->numerics->state_dtype ? &s->unit.state : &s->unit.out, o) : o;
}

/* Parts merged by their lse: the quotient of each weighed by e^(lse_part - largest). */
static void merge(sim *s, part *all, const part *each, int count)
{
    num lse[SIM_KEYS] = { 0 }, w[SIM_KEYS], term[SIM_KEYS];
    for (int p = 0; p < count; p++)
        lse[p] = s->options->merge == MERGE_SUMS ? each[p].top : lse_of(s, &each[p]);
    all->top = sim_largest(s, lse, count);
    for (int p = 0; p < count; p++)
        w[p] = weight(s, lse[p], all->top);
    for (int64_t c = 0; c < s->p->e; c++) {
        for (int p = 0; p < count; p++) {
            const num o = s->options->merge == MERGE_SUMS ? each[p].sum[c] : quotient(s, &each[p], c);
            term[p] = sim_mul(s, &s->unit.sum, w[p], o);
        }
        all->sum[c] = sim_total(s, term, count);
    }
    for (int p = 0; p < count; p++)
        term[p] = s->options->merge == MERGE_SUMS ? sim_mul(s, &s->unit.sum, w[p], each[p].below) : w[p];
    all->below = sim_total(s, term, count);
    if (s->options->merge != MERGE_FREE)
        return;
    const num total = lse_of(s, all); /* no division: o = sum e^(lse_part - lse) o_part */
    for (int p = 0; p < count; p++)
        w[p] = weight(s, lse[p], total);
    for (int64_t c = 0; c < s->p->e; c++) {
        for (int p = 0; p < count; p++)
            term[p] = sim_mul(s, &s->unit.sum, w[p], quotient(s, &each[p], c));
        all->sum[c] = sim_total(s, term, count);
    }
}

/* Parts as (o, lse): one more of them, with a quotient, without, or by a sigmoid. */
static void join(sim *s, part *all, const part *one)
{
    const tape_unit *acc = &s->unit.acc, *unit = &s->unit.sum;
    const num one_lse = one->top, old = all->top, top = sim_max(s, old, one_lse);
    const num a = weight(s, old, top), b = weight(s, one_lse, top), sum = sim_add(s, unit, a, b);
    all->top = sim_add(s, acc, top, logarithm(s, sum));
    const int free = s->options->merge == MERGE_CHAIN_FREE;
    const num x = free ? weight(s, old, all->top) : a, y = free ? weight(s, one_lse, all->top) : b;
    for (int64_t c = 0; c < s->p->e; c++) {
        const num o = sim_add(s, unit, sim_mul(s, unit, x, all->sum[c]), sim_mul(s, unit, y, one->sum[c]));
        all->sum[c] = free ? o : sim_div(s, o, sum);
    }
}

/* r = 1/(1 + e^(lse - lse_part)); o - r (o - o_part); lse + log(1 + e^(lse_part - lse)), the larger lse outside. */
static void join_by_sigmoid(sim *s, part *all, const part *one)
{
    const tape_unit *acc = &s->unit.acc, *unit = &s->unit.sum;
    const num ratio = weight(s, all->top, one->top);
    const num r = sim_div(s, tape_given(&s->tape, 1), sim_add(s, acc, tape_given(&s->tape, 1), ratio));
    const int ahead = tape_value(&s->tape, one->top) > tape_value(&s->tape, all->top);
    const num high = ahead ? one->top : all->top, low = ahead ? all->top : one->top;
    const num more = sim_add(s, acc, tape_given(&s->tape, 1), weight(s, low, high));
    for (int64_t c = 0; c < s->p->e; c++) {
        const num step = sim_mul(s, unit, r, sim_sub(s, unit, all->sum[c], one->sum[c]));
        all->sum[c] = sim_sub(s, unit, all->sum[c], step);
    }
    all->top = sim_add(s, acc, high, logarithm(s, more));
}

/* Parts that are quotients with their lse, joined in the order of the options. */
static void chain(sim *s, part *all, const part *each, int count)
{
    *all = each[0];
    if (s->options->merge == MERGE_TREE && count > 1) {
        part right;
        chain(s, all, each, count / 2);
        chain(s, &right, each + count / 2, count - count / 2);
        join(s, all, &right);
        return;
    }
    for (int p = 1; p < count; p++)
        if (s->options->merge == MERGE_SIGMOID)
            join_by_sigmoid(s, all, &each[p]);
        else
            join(s, all, &each[p]);
}

static void quotients(sim *s, part *each, int count)
{
    for (int p = 0; p < count; p++) {
        for (int64_t c = 0; c < s->p->e; c++)
            each[p].sum[c] = quotient(s, &each[p], c);
        each[p].top = lse_of(s, &each[p]);
    }
}

/* Nothing is left to divide by: `below` stands for e^top. */
static int divided(const sim *s)
{
    return s->options->divide != DIVIDE_LAST || s->options->merge == MERGE_FREE || s->options->merge >= MERGE_CHAIN;
}

static void split(sim *s, part *all)
{
    part each[16];
    const int64_t parts = s->numerics->splits > 0 ? s->numerics->splits : s->p->splits;
    const int64_t from = s->options->parts_of_all ? 0 : s->first, to = s->options->parts_of_all ? s->p->m : s->last;
    const int64_t width = (to - from + parts - 1) / parts;
    int count = 0;
    for (int64_t t = from; t < to && count < 16; t += width) {
        const int64_t begin = t > s->first ? t : s->first, end = s->last < t + width ? s->last : t + width;
        const num top = begin < end ? largest(s, begin, end) : -1;
        if (top >= 0) /* an empty part has the weight 0 */
            sums(s, &each[count++], begin, end, top);
    }
    if (s->options->merge < MERGE_CHAIN) {
        merge(s, all, each, count);
        return;
    }
    quotients(s, each, count);
    chain(s, all, each, count);
}

static void add_sink(sim *s, part *all)
{
    num sink = sim_input(s, ATTEST_SINK, 0, 0, 0, 0);
    if (s->options->exp == EXP_BASE2)
        sink = sim_mul(s, &s->unit.acc, sink, sim_number(s, log2e));
    const num w = all->top < 0 ? shift_free(s, sink) : weight(s, sink, all->top);
    all->below = sim_add(s, &s->unit.sum, all->below, w);
}

/* The quotient of the keys alone times sigmoid(lse - sink): a sink added to a kernel that knows of none. */
static void weigh_by_sink(sim *s, part *all)
{
    const tape_unit *unit = &s->unit.acc;
    const num lse = all->top < 0 ? logarithm(s, all->below) : lse_of(s, all);
    num sink = sim_input(s, ATTEST_SINK, 0, 0, 0, 0);
    if (s->options->exp == EXP_BASE2)
        sink = sim_mul(s, unit, sink, sim_number(s, log2e));
    const num w = shift_free(s, sim_sub(s, unit, sink, lse));
    const num share = sim_div(s, sim_number(s, 1), sim_add(s, unit, sim_number(s, 1), w));
    for (int64_t c = 0; c < s->p->e; c++)
        all->sum[c] = sim_mul(s, unit, quotient(s, all, c), share);
}

static void base_two(sim *s)
{
    for (int64_t j = s->first; s->options->exp == EXP_BASE2 && s->options->bias != BIAS_BASE2 && j < s->last; j++)
        s->score[j] = sim_mul(s, &s->unit.acc, s->score[j], sim_number(s, log2e));
}

static num lse_output(sim *s, const part *all)
{
    num lse = all->top < 0 ? logarithm(s, all->below) : s->options->merge >= MERGE_CHAIN ? all->top : lse_of(s, all);
    const int base2 = s->options->exp == EXP_BASE2, wanted = (s->flags & ATTEST_LSE_BASE2) != 0;
    if (base2 != wanted)
        lse = sim_mul(s, &s->unit.acc, lse, sim_number(s, base2 ? 1 / log2e : log2e));
    return lse;
}

/* u and z: the shift is undone. */
static void undo(sim *s, part *all)
{
    const tape_op op = s->options->exp == EXP_BASE2 ? TAPE_EXP2 : TAPE_EXP;
    const num factor = sim_call(s, &s->unit.exp, op, all->top);
    for (int64_t c = 0; c < s->p->e; c++)
        all->sum[c] = sim_mul(s, &s->unit.acc, all->sum[c], factor);
    all->below = sim_mul(s, &s->unit.acc, all->below, factor);
}

static num top_of_row(sim *s)
{
    const num top = largest(s, s->first, s->last);
    return s->options->sink_in_max ? sim_max(s, top, sim_input(s, ATTEST_SINK, 0, 0, 0, 0)) : top;
}

void sim_softmax(sim *s)
{
    const uint32_t schedule = s->options->schedule ? s->options->schedule : s->numerics->schedule;
    const int direct = schedule == ATTEST_SCHEDULE_DIRECT || s->options->no_shift;
    part all;
    sim_tokens(s);
    sim_scores(s);
    base_two(s);
    if (schedule == ATTEST_SCHEDULE_ONLINE)
        online(s, &all, s->first, s->last);
    else if (schedule == ATTEST_SCHEDULE_SPLIT)
        split(s, &all);
    else
        sums(s, &all, s->first, s->last, direct ? -1 : top_of_row(s));
    part with_sink = all;
    if (s->options->sink_in_lse)
        add_sink(s, &with_sink);
    s->lse = lse_output(s, &with_sink);
    s->has_lse = 1;
    if (s->options->undo_shift && !direct)
        undo(s, &all);
    s->has_u = s->has_z = direct || s->options->undo_shift;
    for (int64_t c = 0; c < s->p->e; c++) {
        if (sim_drops(s) && s->options->drop == DROP_SUM)
            all.sum[c] = sim_kept(s, all.sum[c]);
        s->u[c] = all.sum[c];
    }
    s->has_u = s->has_u && (!sim_drops(s) || (s->options->drop != DROP_QUOTIENT && s->options->drop != DROP_BELOW));
    s->z = all.below;
    if (s->options->sink_by_lse)
        weigh_by_sink(s, &all);
    else if (sim_axis(s, ATTEST_AXIS_NORM) == ATTEST_NORM_SINK)
        add_sink(s, &all);
    if (sim_drops(s) && s->options->drop == DROP_BELOW)
        all.below = sim_mul(s, &s->unit.acc, all.below, sim_share(s));
    if ((divided(s) || s->options->sink_by_lse) && sim_axis(s, ATTEST_AXIS_NORM) < ATTEST_NORM_L2)
        sim_output(s, all.sum);
    else
        sim_finish(s, all.sum, all.below);
}

/* What a running mean is of: v, or with dropout 0 or v/(1-R). */
static num mean_value(sim *s, int64_t j, int64_t c)
{
    if (!sim_drops(s))
        return s->v[j][c];
    if (s->dropped[j])
        return tape_given(&s->tape, 0);
    return s->options->drop == DROP_SUM ? s->v[j][c] : sim_kept(s, s->v[j][c]);
}

void sim_mean(sim *s)
{
    const tape_unit *unit = &s->unit.sum;
    num top = 0, below = 0, o[SIM_VALUES];
    int begun = 0;
    sim_tokens(s);
    sim_scores(s);
    base_two(s);
    for (int64_t j = s->first; j < s->last; j++) {
        const num before = top;
        if (s->hidden[j])
            continue;
        top = !begun ? s->score[j] : sim_max(s, top, s->score[j]);
        const num w = weight(s, s->score[j], top);
        below = !begun ? w : sim_add(s, unit, sim_mul(s, unit, below, weight(s, before, top)), w);
        num share = sim_div(s, s->casts && s->options->divide != DIVIDE_THEN_CAST ? sim_round(s, &s->unit.cast, w) : w,
                            below);
        if (s->casts && s->options->divide == DIVIDE_THEN_CAST)
            share = sim_round(s, &s->unit.cast, share);
        for (int64_t c = 0; c < s->p->e; c++) {
            const num v = mean_value(s, j, c);
            o[c] = !begun ? v : sim_add(s, unit, o[c], sim_mul(s, unit, share, sim_sub(s, unit, v, o[c])));
        }
        begun = 1;
    }
    for (int64_t c = 0; sim_drops(s) && s->options->drop == DROP_SUM && c < s->p->e; c++)
        o[c] = sim_kept(s, o[c]);
    sim_output(s, o);
}
