/* tape.c - derivatives backwards, and evaluation with chosen rounding errors. */
#include "tests/simulators/tape.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/attest_float.h"

void tape_clear(tape *t) { t->count = 0; }

void tape_free(tape *t)
{
    free(t->node);
    *t = (tape){ 0 };
}

/* ---- values and derivatives --------------------------------------------------------------------------------- */
static long double apply(uint8_t op, long double a, long double b)
{
    switch (op) {
    case TAPE_ADD: return a + b;
    case TAPE_SUB: return a - b;
    case TAPE_MUL: return a * b;
    case TAPE_DIV: return a / b;
    case TAPE_MAX: return a > b ? a : b;
    case TAPE_MIN: return a < b ? a : b;
    case TAPE_SQRT: return sqrtl(a);
    case TAPE_EXP: return expl(a);
    case TAPE_EXP2: return exp2l(a);
    case TAPE_EXPM1: return expm1l(a);
    case TAPE_LOG: return logl(a);
    case TAPE_LOG2: return log2l(a);
    case TAPE_TANH: return tanhl(a);
    case TAPE_SIN: return sinl(a);
    case TAPE_COS: return cosl(a);
    default: return a; /* TAPE_ROUND */
    }
}

static const long double ln2 = 0.693147180559945309417232121458176568L;

/* Derivatives of the node's value by both operands. */
static void derive(long double d[2], uint8_t op, long double a, long double b, long double value)
{
    d[0] = 1;
    d[1] = 0;
    switch (op) {
    case TAPE_ADD: d[1] = 1; break;
    case TAPE_SUB: d[1] = -1; break;
    case TAPE_MUL: d[0] = b, d[1] = a; break;
    case TAPE_DIV: d[0] = 1 / b, d[1] = -value / b; break;
    case TAPE_MAX: d[0] = a > b, d[1] = !(a > b); break;
    case TAPE_MIN: d[0] = a < b, d[1] = !(a < b); break;
    case TAPE_SQRT: d[0] = value > 0 ? 0.5L / value : 0; break;
    case TAPE_EXP: d[0] = value; break;
    case TAPE_EXP2: d[0] = value * ln2; break;
    case TAPE_EXPM1: d[0] = value + 1; break;
    case TAPE_LOG: d[0] = 1 / a; break;
    case TAPE_LOG2: d[0] = 1 / (a * ln2); break;
    case TAPE_TANH: d[0] = 1 - value * value; break;
    case TAPE_SIN: d[0] = cosl(a); break;
    case TAPE_COS: d[0] = -sinl(a); break;
    default: break;
    }
}

static int is_binary(uint8_t op) { return op >= TAPE_ADD && op <= TAPE_MIN; }

/* ---- recording ------------------------------------------------------------------------------------------------ */
static num append(tape *t, tape_node node)
{
    if (t->count == t->room) {
        const num room = t->room ? 2 * t->room : 4096;
        tape_node *grown = realloc(t->node, (size_t)room * sizeof *grown);
        if (!grown) {
            t->failed = 1;
            return t->count > 0 ? t->count - 1 : 0;
        }
        t->node = grown;
        t->room = room;
    }
    node.value = node.exact;
    t->node[t->count] = node;
    return t->count++;
}

/* From the first to the last bit of x that is set. */
static int digits_in(long double x)
{
    int exponent;
    const uint64_t bits = (uint64_t)ldexpl(frexpl(fabsl(x), &exponent), 64);
    return bits ? 64 - __builtin_ctzll(bits) : 1;
}

num tape_given(tape *t, long double x)
{
    return append(t, (tape_node){ .op = TAPE_GIVEN, .exact = x, .digits = (int16_t)digits_in(x) });
}

static int digits_of(const tape *t, tape_op op, num a, num b)
{
    const int x = t->node[a].digits, y = t->node[b].digits;
    if (op == TAPE_MUL)
        return x == 1 ? y : y == 1 ? x : x + y;
    if (op == TAPE_DIV && y == 1)
        return x;
    return op == TAPE_ROUND ? x : TAPE_ANY;
}

num tape_do(tape *t, const tape_unit *unit, tape_op op, num a, num b)
{
    const long double x = apply((uint8_t)op, t->node[a].exact, is_binary((uint8_t)op) ? t->node[b].exact : 0);
    int digits = digits_of(t, op, a, b);
    const int fits = unit && !unit->function && digits <= unit->digits && fabsl(x) >= unit->least;
    if (op == TAPE_MAX || op == TAPE_MIN || fits)
        unit = NULL; /* exact */
    else if (unit)
        digits = unit->digits;
    return append(t, (tape_node){ .op = (uint8_t)op,
                                  .a = a,
                                  .b = is_binary((uint8_t)op) ? b : a,
                                  .exact = x,
                                  .unit = unit,
                                  .digits = (int16_t)(digits > TAPE_ANY ? TAPE_ANY : digits) });
}

num tape_constant(tape *t, const tape_unit *unit, long double x)
{
    return tape_do(t, unit, TAPE_ROUND, tape_given(t, x), 0);
}

/* ---- rounding errors ------------------------------------------------------------------------------------------ */
/* The error at one end of the interval: pick = 1 upwards, -1 downwards. */
static long double rounding(const tape_node *node, long double x, int pick)
{
    const tape_unit *unit = node->unit;
    const long double size = fabsl(x);
    const int grows = (x > 0) == (pick > 0);
    if (!unit || !pick || size == 0)
        return 0;
    long double error = unit->u * size;
    if (unit->ulp) {
        int exponent;
        frexpl(size, &exponent);
        error = ldexpl(unit->u, exponent - 1);
    }
    if (size < unit->least) {
        const int sum = node->op == TAPE_ADD || node->op == TAPE_SUB;
        error = sum && unit->gradual ? 0 : unit->eta;
        if (unit->flush && !grows)
            error = size;
        if (unit->function)
            error += unit->u * size;
        if (!grows && error > size)
            error = size;
        if (grows && size < error && !unit->function)
            error = 0; /* it is rounded to nothing, never up */
    }
    if (grows && unit->toward_zero)
        error = 0;
    return pick > 0 ? error : -error;
}

/* Slopes of `output` by the error of each node, at the values that the nodes have. */
static void sweep(tape *t, num output)
{
    for (num k = 0; k < t->count; k++)
        t->node[k].slope = 0;
    t->node[output].slope = 1;
    for (num k = output; k >= 0; k--) {
        const tape_node *node = &t->node[k];
        long double d[2];
        if (node->op == TAPE_GIVEN || node->slope == 0)
            continue;
        derive(d, node->op, t->node[node->a].value, t->node[node->b].value, node->value);
        t->node[node->a].slope += d[0] * node->slope;
        if (is_binary(node->op))
            t->node[node->b].slope += d[1] * node->slope;
    }
}

/* All nodes again, each with the error that is picked for it. */
static void replay(tape *t, num output)
{
    for (num k = 0; k <= output; k++) {
        tape_node *node = &t->node[k];
        if (node->op == TAPE_GIVEN)
            continue;
        const long double x = apply(node->op, t->node[node->a].value, t->node[node->b].value);
        if (node->unit && node->unit->nearest)
            node->value = attest_to_f64(node->unit->nearest - 1, attest_from_f64(node->unit->nearest - 1, (double)x));
        else
            node->value = x + rounding(node, x, node->pick);
    }
}

static long double attack(tape *t, num output, int rounds, int direction)
{
    long double most = 0;
    for (num k = 0; k < t->count; k++)
        t->node[k].value = t->node[k].exact;
    for (int r = 0; r < rounds; r++) {
        sweep(t, output);
        for (num k = 0; k <= output; k++) {
            const long double slope = t->node[k].slope;
            t->node[k].pick = (int8_t)(slope == 0 ? 0 : (slope > 0) == (direction > 0) ? 1 : -1);
        }
        replay(t, output);
        const long double error = fabsl(t->node[output].value - t->node[output].exact);
        if (error > most)
            most = error;
    }
    return most;
}

long double tape_attack(tape *t, num output, int rounds)
{
    const long double up = attack(t, output, rounds, 1), down = attack(t, output, rounds, -1);
    return up > down ? up : down;
}
