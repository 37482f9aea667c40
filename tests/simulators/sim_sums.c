/* sim_sums.c - sums and dot products in the orders that the options name. */
#include "tests/simulators/sim.h"

#include <math.h>
#include <stdlib.h>

static num pairs(sim *s, const num *x, int64_t count)
{
    if (count == 1)
        return x[0];
    return sim_add(s, &s->unit.sum, pairs(s, x, count / 2), pairs(s, x + count / 2, count - count / 2));
}

static num serial(sim *s, const num *x, int64_t count)
{
    num sum = x[0];
    for (int64_t k = 1; k < count; k++)
        sum = sim_add(s, &s->unit.sum, sum, x[k]);
    return sum;
}

static num blocks(sim *s, const num *x, int64_t count)
{
    const int64_t block = s->numerics->block > 0 ? s->numerics->block : count;
    num sum = -1;
    for (int64_t k = 0; k < count; k += block) {
        const num part = serial(s, x + k, count - k < block ? count - k : block);
        sum = sum < 0 ? part : sim_add(s, &s->unit.sum, sum, part);
    }
    return sum;
}

/* Four lanes of every fourth number, then their pairs. */
static num lanes(sim *s, const num *x, int64_t count)
{
    num lane[4];
    const int64_t most = count < 4 ? count : 4;
    for (int64_t k = 0; k < most; k++) {
        lane[k] = x[k];
        for (int64_t n = k + 4; n < count; n += 4)
            lane[k] = sim_add(s, &s->unit.sum, lane[k], x[n]);
    }
    return pairs(s, lane, most);
}

/* ---- R-TENSOR ------------------------------------------------------------------------------------------------- */
/* x, cut below `grain`: toward zero. */
static num cut(sim *s, num x, long double grain)
{
    tape_unit *unit = s->cuts < SIM_CUTS ? malloc(sizeof *unit) : NULL;
    if (!unit) {
        s->tape.failed = 1;
        return x;
    }
    *unit = (tape_unit){ .eta = grain, .least = (long double)INFINITY, .toward_zero = 1 };
    s->cut[s->cuts++] = unit;
    return sim_round(s, unit, x);
}

static num instruction(sim *s, num old, const num *product, int64_t count)
{
    long double largest = old < 0 ? 0 : fabsl(tape_value(&s->tape, old));
    num sum = -1;
    int exponent;
    for (int64_t k = 0; k < count; k++)
        largest = fmaxl(largest, fabsl(tape_value(&s->tape, product[k])));
    if (largest == 0)
        return old < 0 ? product[0] : old;
    frexpl(largest, &exponent);
    const long double grain = ldexpl(1, exponent - 1 - 23);
    if (old >= 0)
        sum = cut(s, old, grain);
    for (int64_t k = 0; k < count; k++) {
        const num addend = cut(s, product[k], grain);
        sum = sum < 0 ? addend : sim_add(s, NULL, sum, addend);
    }
    frexpl(fabsl(tape_value(&s->tape, sum)), &exponent);
    return cut(s, sum, ldexpl(1, exponent - 1 - 23));
}

static num tensor(sim *s, const num *product, int64_t count)
{
    num sum = -1;
    for (int64_t k = 0; k < count; k += 4)
        sum = instruction(s, sum, product + k, count - k < 4 ? count - k : 4);
    return sum;
}

void sim_end(sim *s)
{
    for (int k = 0; k < s->cuts; k++)
        free(s->cut[k]);
    s->cuts = 0;
}

/* ---- in the order of the options ------------------------------------------------------------------------------ */
num sim_total(sim *s, const num *x, int64_t count)
{
    if (s->options->sum == SUM_TENSOR)
        return tensor(s, x, count);
    const num sum = s->options->sum == SUM_PAIRS    ? pairs(s, x, count)
                    : s->options->sum == SUM_BLOCKS ? blocks(s, x, count)
                    : s->options->sum == SUM_LANES  ? lanes(s, x, count)
                                                    : serial(s, x, count);
    return s->finer ? sim_round(s, &s->unit.acc, sum) : sum;
}

num sim_dot(sim *s, const num *a, const num *b, int64_t count)
{
    num term[SIM_KEYS];
    const tape_unit *unit = s->options->sum >= SUM_FMA ? NULL : &s->unit.sum;
    for (int64_t k = 0; k < count; k++)
        term[k] = sim_mul(s, unit, a[k], b[k]);
    const int64_t alone = s->options->sum == SUM_FMA ? 1 : s->options->sum == SUM_LANES ? 4 : 0;
    for (int64_t k = 0; k < alone && k < count; k++) /* a first product is added to 0 */
        term[k] = sim_round(s, &s->unit.sum, term[k]);
    return sim_total(s, term, count);
}

num sim_largest(sim *s, const num *x, int64_t count)
{
    num top = x[0];
    for (int64_t k = 1; k < count; k++)
        top = sim_max(s, top, x[k]);
    return top;
}

/* ---- dropout ---------------------------------------------------------------------------------------------------- */
int sim_drops(const sim *s)
{
    return sim_axis(s, ATTEST_AXIS_DROPOUT) != ATTEST_DROPOUT_NONE || attest_kv_scaled(s->p);
}

num sim_share(sim *s)
{
    const double rate = s->p->axis[ATTEST_AXIS_DROPOUT].number;
    const int exact = attest_to_f64(s->p->acc, attest_from_f64(s->p->acc, rate)) == rate;
    return sim_sub(s, &s->unit.acc, tape_given(&s->tape, 1), exact ? tape_given(&s->tape, rate) : sim_number(s, rate));
}

num sim_kept(sim *s, num x)
{
    if (attest_kv_scaled(s->p)) /* of dropout beside it these programs know nothing */
        return sim_mul(s, &s->unit.acc, x, sim_input(s, ATTEST_V_SCALE, 0, 0, 0, 0));
    if (s->options->drop == DROP_DIVIDE)
        return sim_div(s, x, sim_share(s));
    return sim_mul(s, &s->unit.acc, x, sim_div(s, tape_given(&s->tape, 1), sim_share(s)));
}

num sim_dropped(sim *s, num w, num cast)
{
    const sim_drop drop = s->options->drop;
    if (!sim_drops(s) || (drop >= DROP_VALUES && drop != DROP_DIVIDE))
        return cast;
    if (drop == DROP_BEFORE || drop == DROP_DIVIDE)
        return s->casts ? sim_round(s, &s->unit.cast, sim_kept(s, w)) : sim_kept(s, w);
    const num after = sim_kept(s, cast);
    return drop == DROP_TWICE && s->casts ? sim_round(s, &s->unit.cast, after) : after;
}

int64_t sim_keep(sim *s, num *w, num *v, int64_t first, int64_t last)
{
    int64_t seen = 0, kept = 0;
    for (int64_t j = first; j < last; j++) {
        if (s->hidden[j])
            continue;
        const int64_t n = seen++;
        if (s->dropped[j])
            continue;
        w[kept] = w[n];
        v[kept] = v[n];
        if (sim_drops(s) && s->options->drop == DROP_VALUES) {
            v[kept] = sim_kept(s, v[n]);
            if (s->options->scaled)
                v[kept] = sim_round(s, &s->unit.scaled, v[kept]);
        }
        kept++;
    }
    return kept;
}
