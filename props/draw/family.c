/* family.c - the table of families, and the reading of `NAME:ARGUMENT`. */
#include "props/draw/family_distribution.h"
#include "props/draw/trace.h"

#include "kernels/attest_float.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const attest_family_info attest_families[FAMILY_COUNT] = {
    [FAMILY_NORMAL] = { "normal", "STD (default 1)",
                        "q, k, v normal with deviation STD: the common case, scores of moderate range", 0, 0 },
    [FAMILY_UNIFORM] = { "uniform", NULL, "q, k, v uniform in [-1,1): bounded scores without tails", 0, 0 },
    [FAMILY_FLAT] = { "flat", NULL, "q = 0: all scores tie, o is a mean of v; rounding ties and the tie lemma", 1, 1 },
    [FAMILY_ONES] = { "ones", NULL, "v = 1: o is 1 whatever the weights; shows errors of the normalisation alone", 1,
                      1 },
    [FAMILY_RAMP_UP] = { "ramp-up", NULL, "scores rise by 0.05 to 0.1 a key: the running maximum moves in every tile",
                         0, 0 },
    [FAMILY_NEGATIVE] = { "negative", NULL,
                          "all scores near -150: e^s underflows in f32 unless the maximum is subtracted", 0, 0 },
    [FAMILY_HUGE] = { "huge", NULL,
                      "scores from -150 to 150: past the overflow of e^s in f32 at 88.7; almost one-hot rows", 0, 0 },
    [FAMILY_RANGE] = { "range", "R (default 8)",
                       "31 asymmetric dyadic score levels over a range of about R: error against range", 0, 1 },
    [FAMILY_DYADIC] = { "dyadic", NULL,
                        "small integers: u and z exact in f32 for linear, term, power and Taylor P<=2 when scale is "
                        "a power of two: bit-exact",
                        0, 1 },
    [FAMILY_PEAKED] = { "peaked", NULL,
                        "one key of a row, another in each row, has nearly all the weight: o is that key's v", 0, 0 },
    [FAMILY_RAMP_DOWN] = { "ramp-down", NULL,
                           "scores fall by 0.05 to 0.1 a key: the first tile holds the maximum; parts of a row merge "
                           "under maxima that differ",
                           0, 0 },
    [FAMILY_CANCEL] = { "cancel", NULL,
                        "v of opposite signs under nearly equal weights: o nearly vanishes, absolute errors show", 0,
                        0 },
    [FAMILY_ONEHOT] = { "onehot", NULL,
                        "v_jc = 1 where j mod e = c, else 0: o holds the weights, by residue of the key", 0, 1 },
    [FAMILY_REPEAT_MAX] = { "repeat-max", NULL,
                            "equal maxima, v of one sign: ties must not matter, errors do not cancel", 0, 1 },
    [FAMILY_SUBNORMAL] = { "subnormal", NULL,
                           "q and v in and near the subnormal range, k large: a flush to zero changes scores, o", 0,
                           0 },
    [FAMILY_NEAR_ZERO_DENOMINATOR] = { "near-zero-denominator", NULL,
                                       "weights of both signs that nearly cancel in z, for odd Taylor orders and "
                                       "linear with a norm; normal elsewhere",
                                       0, 0 },
    [FAMILY_CAST_EDGE] = { "cast-edge", NULL,
                           "softmax weights between two numbers of the type p, v = 13/8: all casts of a row err alike, "
                           "by almost u (truncated: 2u)",
                           1, 1 },
    [FAMILY_POSITIVE] = { "positive", NULL,
                          "q, k, v uniform in [0,1): PyTorch's distribution; weights nearly equal, errors hardly show",
                          0, 0 },
    [FAMILY_INTEGERS] = { "integers", NULL,
                          "q integers in -4..4, k and v in -2..2: benchdnn's distribution; products of q, k are exact",
                          0, 1 },
    [FAMILY_STAIRS] = { "stairs", "KEYS (default 16)",
                        "scores rise by 0.7 every KEYS keys: an online kernel with tiles of KEYS keys rescales by "
                        "e^-0.7 in each",
                        0, 1 },
    [FAMILY_HALF_PEAK] = { "half-peak", NULL,
                           "one key with half of the weight, all others with the other half: one large and many small "
                           "terms share the sum",
                           0, 0 },
    [FAMILY_LARGE_PRODUCTS] = { "large-products", NULL,
                                "products q_c k_c 64 times their sum or more, of alternating sign: the scores' own "
                                "rounding errors show",
                                0, 1 },
    [FAMILY_TAYLOR_ROOTS] = { "taylor-roots", NULL,
                              "scores next to where T_P vanishes, is least, is 1 again (P even) or nearly cancels a "
                              "row's other weight (P odd); normal for other weights",
                              0, 1 },
    [FAMILY_P_UNDERFLOW] = { "p-underflow", NULL,
                             "o made of softmax weights at the edge of underflow of the type p: flushed or kept", 0,
                             1 },
    [FAMILY_ZERO_KEYS] = { "zero-keys", NULL,
                           "k = 0: norms of a zero vector, keys that write nothing; padding as kernels see it", 1, 1 },
    [FAMILY_OFFSET] = { "offset", NULL,
                        "v = 16 + normal: a large mean that exact weights keep; errors of their sum show", 0, 0 },
    [FAMILY_EDGES] = { "edges", NULL,
                       "gates, decays and beta within 2^-16 of 1 (nothing is forgotten), at times 0 or 1, or tiny, or "
                       "decays from 15/16 to 1, by head; lengths M, 1, 0 and M-1 in turn; q, k, v normal",
                       0, 0 },
    [FAMILY_TRACE] = { "trace", "DIR",
                       "q, k, v from DIR/q.npy, k.npy, v.npy, and what else is there by its name: values of a model", 0,
                       0 },
};
const size_t attest_family_count = FAMILY_COUNT;
const size_t attest_family_drawn = FAMILY_TRACE;

/* Row of the family, attest_family_count if there is none; *argument points behind the colon or is NULL. */
static size_t find(const char *family, const char **argument)
{
    const char *colon = strchr(family, ':');
    const size_t len = colon ? (size_t)(colon - family) : strlen(family);
    *argument = colon ? colon + 1 : NULL;
    size_t row = 0;
    while (row < attest_family_count &&
           (strlen(attest_families[row].name) != len || memcmp(attest_families[row].name, family, len) != 0))
        row++;
    return row;
}

const attest_family_info *attest_family_of(const attest_case *c)
{
    const char *argument;
    const size_t row = find(c->family, &argument);
    return row < attest_family_count ? &attest_families[row] : NULL;
}

/* A finite number without sign in front; 0 if the text is none. */
static int parse_argument(double *value, const char *text)
{
    char *end;
    if (!(text[0] >= '0' && text[0] <= '9') && text[0] != '.')
        return 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value <= 0x1.fffffffffffffp+1023;
}

const char *attest_family_folder(const attest_case *c)
{
    const char *argument;
    return find(c->family, &argument) == FAMILY_TRACE ? argument : NULL;
}

attest_status attest_family_check(const attest_case *c, attest_error *err)
{
    const char *argument;
    const size_t row = find(c->family, &argument);
    if (row == attest_family_count) {
        char names[512] = "";
        for (size_t i = 0; i < attest_family_count; i++) {
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "", attest_families[i].name);
        }
        return attest_fail(err, ATTEST_BAD_INPUT, "unknown family '%s'; allowed: %s", c->family, names);
    }
    const char *name = attest_families[row].name;
    if (row == FAMILY_TRACE)
        return attest_trace_check(argument, err);
    if (!argument)
        return ATTEST_OK;
    if (!attest_families[row].argument)
        return attest_fail(err, ATTEST_BAD_INPUT, "family '%s': %s takes no argument", c->family, name);
    const attest_distribution_info *distribution = &attest_distributions[row];
    const uint32_t dtype = attest_kv_scaled(&c->problem) ? c->problem.in : attest_kv_dtype(&c->problem);
    const double most = attest_to_f64(
        dtype, attest_round_scaled(dtype, 0, 1, attest_format_of(dtype).emax - distribution->below_emax, 0));
    double value = 0;
    const int number = parse_argument(&value, argument);
    if (distribution->whole &&
        !(number && value >= 1 && value <= distribution->whole && value == (double)(int64_t)value))
        return attest_fail(err, ATTEST_BAD_INPUT, "family '%s': %s needs a whole number from 1 to %d", c->family, name,
                           distribution->whole);
    if (distribution->whole)
        return ATTEST_OK;
    if (!number || value > most || (value == 0 && !distribution->zero))
        return attest_fail(err, ATTEST_BAD_INPUT, "family '%s': %s needs a number %s 0 and <= %g for %s=%s", c->family,
                           name, distribution->zero ? ">=" : ">", most, dtype == c->problem.in ? "in" : "kv",
                           attest_dtype_name(dtype));
    return ATTEST_OK;
}

void attest_distribution_make(attest_distribution *distribution, const attest_case *c, uint32_t role,
                              uint32_t case_number)
{
    const char *argument;
    const size_t row = find(c->family, &argument);
    memset(distribution, 0, sizeof *distribution);
    distribution->p = &c->problem;
    distribution->stream = (attest_stream){ c->seed, case_number, role };
    distribution->argument = attest_distributions[row].argument;
    if (argument)
        parse_argument(&distribution->argument, argument);
    distribution->value = attest_distributions[row].value;
    if (attest_distributions[row].prepare)
        attest_distributions[row].prepare(distribution);
}
