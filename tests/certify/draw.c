/* draw.c - problems of the certificate harness (certify.h): the line of case (law, seed, number), and its tensors. */
#include "tests/certify/certify.h"

#include "props/draw/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds text to the line. */
#define ADD(...) snprintf(line + strlen(line), ATTEST_LINE - strlen(line), __VA_ARGS__)

static const int widths[] = { 1, 2, 3, 15, 16, 17, 32, 33, 64, 80, 128, 130, 300 };
enum { WIDTHS = sizeof widths / sizeof widths[0] };

static void add_sizes(char *line, const certify_law *law, certify_random *r, int number)
{
    const int group = certify_below(r, 4) ? 1 : certify_between(r, 1, 3), hkv = certify_below(r, 4) ? 1 : 2;
    if (law->kind == CERTIFY_LONG) {
        ADD(" n=%d m=%d d=%d e=128", certify_between(r, 5, 8), 16384 - certify_below(r, 3) * 1001,
            certify_below(r, 2) ? 64 : 16);
        return;
    }
    if (number % 8 == 7) { /* many outputs */
        static const int sizes[] = { 256, 384, 512 };
        const int n = sizes[certify_below(r, 3)];
        ADD(" n=%d m=%d d=%d e=128", n, certify_below(r, 3) ? n : n - 3,
            certify_below(r, 2) ? 64 : widths[certify_below(r, WIDTHS)]);
        return;
    }
    const int n = certify_between(r, 1, 40), m = certify_below(r, 3) ? certify_between(r, 1, 150) : n;
    ADD(" b=%d hkv=%d hq=%d n=%d m=%d d=%d e=%d", certify_below(r, 6) ? 1 : 2, hkv, hkv * group, n, m,
        widths[certify_below(r, WIDTHS)], widths[certify_below(r, WIDTHS)]);
}

/* The weight and what goes with it */
static void add_weight(char *line, const certify_law *law, certify_random *r)
{
    static const char *const centers[] = { "zero", "max", "min", "mid" };
    static const char *const norms[] = { "sum", "sum", "sum", "none", "length" };
    const int order = certify_below(r, 8) ? certify_below(r, 9) : certify_below(r, 8) ? 15 : 40;
    const int rooted = law->kind == CERTIFY_ODD_TAYLOR, kind = rooted ? 6 : certify_below(r, 10);
    if (kind < 5) {
        ADD(" weight=exp norm=%s", norms[certify_below(r, 5)]);
    } else if (kind < 8) {
        const int centered = !rooted && certify_below(r, 2);
        ADD(" weight=taylor:%d center=%s norm=%s", rooted ? certify_below(r, 5) * 2 + 1 : order,
            centers[centered ? certify_below(r, 4) : 0], centered || rooted ? "sum" : norms[certify_below(r, 5)]);
    } else {
        ADD(" weight=%s:%d norm=%s", kind == 8 ? "term" : "power", order, norms[certify_below(r, 5)]);
    }
}

static void add_rest(char *line, certify_random *r)
{
    static const char *const masks[] = { "full", "causal", "causal", "causal-br" };
    static const char *const types[] = { "f32", "f32", "f32", "bf16", "bf16", "f16" };
    static const char *const scales[] = { "1",
                                          "-1",
                                          "0.3",
                                          "-0.7",
                                          "0",
                                          "1e-3",
                                          "1e5",
                                          "1e-30",
                                          "1.97",
                                          "4",
                                          "1e20",
                                          "1048576",
                                          "9.5367431640625e-7",
                                          "9.313225746154785e-10" };
    ADD(" mask=%s in=%s", masks[certify_below(r, 4)], types[certify_below(r, 6)]);
    if (!certify_below(r, 5))
        ADD(" window=%d", certify_between(r, 1, 40));
    if (!certify_below(r, 6))
        ADD(" lens=draw");
    if (!certify_below(r, 8))
        ADD(" feature=relu");
    if (!certify_below(r, 8))
        ADD(" eps=%s", certify_below(r, 2) ? "1e-6" : certify_below(r, 2) ? "3" : "1e-300");
    if (!certify_below(r, 8))
        ADD(" clamp=%s", certify_below(r, 3) ? "1.5" : certify_below(r, 2) ? "-2" : "40");
    if (!certify_below(r, 3))
        ADD(" scale=%s", scales[certify_below(r, sizeof scales / sizeof scales[0])]);
}

/* A clamp at, or beside, one of the scores that q and k come to, in double. */
static attest_status clamp_beside(certify_case *c, certify_random *r, attest_error *err)
{
    const attest_problem *p = &c->about.problem;
    const attest_tensor *q = attest_bundle_role(c->in, ATTEST_Q), *k = attest_bundle_role(c->in, ATTEST_K);
    const int64_t j = certify_below(r, (int)p->m);
    double sum = 0;
    char line[ATTEST_LINE], number[40];
    for (int64_t n = 0; n < p->d; n++)
        sum += attest_load(q, attest_offset(q, 0, 0, 0, n)) * attest_load(k, attest_offset(k, 0, 0, j, n));
    attest_double_text(number, sizeof number, sum * p->scale);
    if (p->axis[ATTEST_AXIS_CLAMP].value || strlen(c->line) + 60 > sizeof c->line)
        return ATTEST_OK;
    snprintf(line, sizeof line, "%s clamp=%s", c->line, number);
    attest_status status = attest_case_parse(&c->about, line, NULL, NULL, err);
    if (status == ATTEST_OK)
        memcpy(c->line, line, sizeof line);
    return status;
}

static attest_status draw_tensors(certify_case *c, const certify_law *law, certify_random *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(&c->in, err));
    ATTEST_TRY(attest_draw_missing(c->in, &c->about, 0, 0, err));
    if (law && law->fill)
        law->fill(&c->about.problem, c->in, r);
    if (law && strcmp(law->name, "beside") == 0 && certify_below(r, 2))
        ATTEST_TRY(clamp_beside(c, r, err));
out:
    if (status != ATTEST_OK)
        certify_clear(c);
    return status;
}

attest_status certify_draw(certify_case *c, const certify_law *law, uint64_t seed, int number, attest_error *err)
{
    certify_random r = { seed * 1000003 + (uint64_t)number };
    attest_status status = ATTEST_BAD_INPUT;
    for (const char *letter = law->name; *letter; letter++)
        r.state = r.state * 31 + (uint64_t)*letter;
    memset(c, 0, sizeof *c);
    for (int attempt = 0; attempt < 50 && status == ATTEST_BAD_INPUT; attempt++) { /* axes that contradict each other */
        char *line = c->line, why[160];
        snprintf(line, ATTEST_LINE, "variant=softmax family=%s seed=%d", law->fill ? "normal" : law->name,
                 (int)(certify_word(&r) >> 40));
        add_weight(line, law, &r);
        add_sizes(line, law, &r, number);
        add_rest(line, &r);
        status = attest_case_parse(&c->about, line, NULL, NULL, err);
        if (status == ATTEST_OK && !attest_enclose_serves(&c->about.problem, why, sizeof why))
            status = attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    }
    return status == ATTEST_OK ? draw_tensors(c, law, &r, err) : status;
}

const certify_law *certify_law_of(const char *name)
{
    for (int n = 0; name && n < certify_law_count; n++)
        if (strcmp(certify_laws[n].name, name) == 0)
            return &certify_laws[n];
    return NULL;
}

attest_status certify_draw_line(certify_case *c, const char *line, const certify_law *law, attest_error *err)
{
    memset(c, 0, sizeof *c);
    snprintf(c->line, sizeof c->line, "%s", line);
    const attest_status status = attest_case_parse(&c->about, line, NULL, NULL, err);
    certify_random r = { c->about.seed };
    return status == ATTEST_OK ? draw_tensors(c, law, &r, err) : status;
}

void certify_clear(certify_case *c)
{
    attest_bundle_free(c->in);
    c->in = NULL;
}
