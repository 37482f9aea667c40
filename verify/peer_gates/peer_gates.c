/* peer_gates.c - see peer_gates.h: the rules and the reading of --gate. */
#include "verify/peer_gates/peer_gates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"

/* The largest |a_i - b_i|; NaN if one is NaN, as torch's max gives it. */
static double largest_difference(const double *a, const double *b, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const double difference = a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
        if (!(difference <= largest))
            largest = difference;
        if (isnan(difference))
            break;
    }
    return largest;
}

static double sum_of_squares(const double *a, const double *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = b ? a[i] - b[i] : a[i];
        sum += x * x;
    }
    return sum;
}

/* max |o - ref| <= 2 max |pt - ref| */
static int flash_attn(const attest_peer_sample *s, const double *numbers)
{
    (void)numbers;
    return !(largest_difference(s->got, s->want, s->count) <= 2 * largest_difference(s->plain, s->want, s->count));
}

/* torch.testing.assert_close; its defaults in test_transformers.py by type. */
static int allclose(const attest_peer_sample *s, const double *numbers)
{
    static const struct {
        double relative, absolute;
    } usual[] = { [ATTEST_F32] = { 1.3e-6, 1e-5 },
                  [ATTEST_F64] = { 1e-7, 1e-7 },
                  [ATTEST_F16] = { 1e-3, 1e-3 },
                  [ATTEST_BF16] = { 1.6e-2, 1e-3 } };
    const double r = isnan(numbers[0]) ? usual[s->dtype].relative : numbers[0];
    const double a = isnan(numbers[1]) ? usual[s->dtype].absolute : numbers[1];
    for (int64_t i = 0; i < s->count; i++) {
        const double difference = s->got[i] == s->want[i] ? 0 : fabs(s->got[i] - s->want[i]);
        if (!(difference <= a + r * fabs(s->want[i])) || isinf(difference))
            return 1;
    }
    return 0;
}

/* ggml: no NaN, infinities in their places, and the normalised mean squared error. */
static int nmse(const attest_peer_sample *s, const double *numbers)
{
    for (int64_t i = 0; i < s->count; i++)
        if (isnan(s->got[i]) || (isinf(s->got[i]) && s->got[i] != s->want[i]))
            return 1;
    const double limit = s->softmax ? numbers[0] : 1e-7;
    return sum_of_squares(s->got, s->want, s->count) / sum_of_squares(s->want, NULL, s->count) > limit;
}

/* assert_close of fla/utils, without its CI mode. */
static int fla(const attest_peer_sample *s, const double *numbers)
{
    (void)numbers;
    const double n = (double)s->count;
    if (largest_difference(s->got, s->want, s->count) <= 1e-6)
        return 0;
    const double error = sqrt(sum_of_squares(s->got, s->want, s->count) / n);
    return !(error / (sqrt(sum_of_squares(s->want, NULL, s->count) / n) + 1e-8) < 0.005);
}

/* sdpa.cpp: relative above 1e-5, else absolute; or within eps of the magnitude.  eps is 2^(1-p). */
static int benchdnn(const attest_peer_sample *s, const double *numbers)
{
    (void)numbers;
    const double eps = 2 * attest_unit_roundoff(s->dtype), limit = 8 * (1 + (double)s->keys) * eps;
    for (int64_t i = 0; i < s->count; i++) {
        const double size = fabs(s->want[i]), difference = s->got[i] == s->want[i] ? 0 : fabs(s->got[i] - s->want[i]);
        if (!((size > 1e-5 ? difference / size : difference) <= limit) && !(difference <= eps * s->magnitude[i]))
            return 1;
    }
    return 0;
}

// clang-format off
const attest_peer_rule attest_peer_rules[] = {
    { "flash-attn", "flash_attn", NULL, 0, { 0, 0 }, ATTEST_GIVES_O, 1, 0, flash_attn,
      "max |o - ref| <= 2 max |pt - ref|, pt the same formula, unfused, in the input type",
      "FlashAttention tests/test_flash_attn.py 0251105a" },
    { "allclose", "pytorch", "R,A", 2, { NAN, NAN }, ATTEST_GIVES_O, 0, 0, allclose,
      "|o - ref| <= A + R |ref|, never widened; usual R,A: f16 1e-3,1e-3, bf16 1.6e-2,1e-3, f32 1.3e-6,1e-5",
      "PyTorch test/test_transformers.py 00030eb8" },
    { "nmse", "ggml", "X", 1, { 5e-4, 0 }, ATTEST_GIVES_O, 0, 0, nmse,
      "sum (o - ref)^2 / sum ref^2 <= X for softmax (usual 5e-4), 1e-7 for the other variants; no NaN",
      "ggml tests/test-backend-ops.cpp d99724f2" },
    { "fla", "fla", NULL, 0, { 0, 0 }, ATTEST_GIVES_O | ATTEST_GIVES_STATE, 0, 0, fla,
      "rms(x - ref) / rms(ref) < 0.005, or max |x - ref| <= 1e-6; x is o, and the final state",
      "flash-linear-attention tests/ops, fla/utils bc3b101d" },
    { "benchdnn", "benchdnn", NULL, 0, { 0, 0 }, ATTEST_GIVES_O, 0, 1, benchdnn,
      "|o - ref| <= 8 (1 + keys) eps |ref| where |ref| > 1e-5, else 8 (1 + keys) eps; or <= eps sum p |v|",
      "oneDNN tests/benchdnn/sdpa/sdpa.cpp 3f27bec2" },
};
// clang-format on

/* `count` numbers >= 0 separated by commas. */
static int parse_numbers(double *number, int count, const char *text)
{
    for (int i = 0; i < count; i++) {
        char *end;
        number[i] = strtod(text, &end);
        if (end == text || !(number[i] >= 0) || !isfinite(number[i]) || *end != (i + 1 < count ? ',' : '\0'))
            return 0;
        text = end + 1;
    }
    return 1;
}

static attest_status refuse_text(const char *text, attest_error *err)
{
    char allowed[160] = "all";
    for (size_t i = 0; i < ATTEST_PEER_COUNT; i++) {
        const attest_peer_rule *r = &attest_peer_rules[i];
        const size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, " %s%s%s%s", r->name, r->syntax ? "[=" : "",
                 r->syntax ? r->syntax : "", r->syntax ? "]" : "");
    }
    return attest_fail(err, ATTEST_BAD_INPUT, "--gate=%s: allowed: %s (numbers >= 0)", text, allowed);
}

attest_status attest_peer_parse(attest_peer_gate gates[ATTEST_PEER_COUNT], size_t *count, const char *text,
                                attest_error *err)
{
    const size_t len = strcspn(text, "=");
    *count = 0;
    memset(gates, 0, ATTEST_PEER_COUNT * sizeof *gates);
    for (size_t i = 0; i < ATTEST_PEER_COUNT; i++) {
        const attest_peer_rule *r = &attest_peer_rules[i];
        attest_peer_gate *gate = &gates[*count];
        const int named = strlen(r->name) == len && memcmp(r->name, text, len) == 0;
        if (!named && strcmp(text, "all") != 0)
            continue;
        gate->rule = r;
        memcpy(gate->number, r->customary, sizeof gate->number);
        if (named && text[len] == '=' && (!r->syntax || !parse_numbers(gate->number, r->number_count, text + len + 1)))
            return refuse_text(text, err);
        ++*count;
    }
    return *count > 0 ? ATTEST_OK : refuse_text(text, err);
}

attest_peer_outcome attest_peer_outcome_of(const attest_defect_result *result)
{
    if (result->killed > 0)
        return ATTEST_PEER_CAUGHT;
    if (result->run == 0)
        return result->stopped > 0 ? ATTEST_PEER_STOPPED : ATTEST_PEER_UNCOVERED;
    return result->differs > 0 ? ATTEST_PEER_PASSED : ATTEST_PEER_UNSEEN;
}
