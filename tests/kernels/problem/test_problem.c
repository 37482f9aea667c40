/* test_problem.c - the problem line: parse, print, defaults, errors, sizes from files. */
#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"
#include "tests/kernels/base_random.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_problem(void);

#define MAX_WORDS 48

static attest_case parsed(const char *line)
{
    attest_case c;
    attest_error err = { "" };
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line ? line : "NULL", err.text);
    return c;
}

static int same_case(const attest_case *a, const attest_case *b)
{
    const attest_problem *p = &a->problem, *q = &b->problem;
    int same = p->struct_size == q->struct_size && p->axis_count == q->axis_count && p->b == q->b && p->hq == q->hq &&
               p->hkv == q->hkv && p->n == q->n && p->m == q->m && p->d == q->d && p->e == q->e &&
               p->chunk == q->chunk && p->splits == q->splits && p->in == q->in && p->acc == q->acc && p->p == q->p &&
               p->out == q->out && attest_f64_bits(p->scale) == attest_f64_bits(q->scale) && a->seed == b->seed &&
               strcmp(a->family, b->family) == 0 && strcmp(a->preset, b->preset) == 0;
    for (int i = 0; i < ATTEST_AXIS_COUNT; i++)
        same = same && attest_setting_equal(&p->axis[i], &q->axis[i]);
    return same;
}

/* ---- random cases ---------------------------------------------------------------------------------------- */
typedef struct words {
    char word[MAX_WORDS][160];
    int count;
} words;

static void add(words *w, const char *key, const char *value)
{
    snprintf(w->word[w->count++], sizeof w->word[0], "%s=%s", key, value);
}

static void random_number(char *text, size_t len, uint64_t *random, int positive)
{
    double x = attest_bits_f64(random_word(random));
    if (!isfinite(x) || x == 0.0 || random_below(random, 2))
        x = (double)(int64_t)random_word(random) * 0x1p-60;
    if (positive)
        x = fabs(x) + 0x1p-1074;
    snprintf(text, len, random_below(random, 2) ? "%a" : "%.17g", x);
}

static void random_argument(char *text, size_t len, uint64_t *random, const char *name, uint32_t argument, double above)
{
    char number[64];
    switch (argument) {
    case ATTEST_ARG_ORDER: snprintf(text, len, "%s:%u", name, random_below(random, 65)); break;
    case ATTEST_ARG_NUMBER:
        random_number(number, sizeof number, random, above == 0.0);
        snprintf(text, len, "%s:%s", name, number);
        break;
    case ATTEST_ARG_BARE: random_number(text, len, random, above == 0.0); break;
    case ATTEST_ARG_BARE_INT: snprintf(text, len, "%u", 1 + random_below(random, 100)); break;
    default: snprintf(text, len, "%s", name); break;
    }
}

static void random_size(words *w, uint64_t *random, const char *key, uint32_t limit)
{
    char text[32];
    if (random_below(random, 3))
        return;
    const uint32_t below = random_below(random, 4) ? 9 : limit;
    snprintf(text, sizeof text, "%u", 1 + random_below(random, below < limit ? below : limit));
    add(w, key, text);
}

/* key=value words of a case that may still be contradictory. */
static void random_case(words *w, uint64_t *random)
{
    static const char *const all[] = { "f32", "f64", "f16", "bf16" };
    static const char *const families[] = {
        "normal", "flat", "range:8", "normal:0.5", "trace:a%20b%25c", "trace:%09x"
    };
    static const char *const dtype_keys[] = { "in", "acc", "p", "out" };
    char text[128];
    w->count = 0;
    if (random_below(random, 8)) {
        const attest_preset *preset = &attest_presets[random_below(random, (uint32_t)attest_preset_count)];
        random_argument(text, sizeof text, random, preset->name, preset->argument, 0.0);
        add(w, "variant", text);
    }
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        if (random_below(random, 9))
            continue;
        const attest_axis_value *v = &attest_axes[i].values[random_below(random, attest_axes[i].value_count)];
        random_argument(text, sizeof text, random, v->name, v->argument, v->above);
        add(w, attest_axes[i].key, text);
    }
    random_size(w, random, "b", 4096);
    random_size(w, random, "hq", 4096);
    random_size(w, random, "hkv", 4);
    random_size(w, random, "n", 1 << 24);
    if (random_below(random, 2))
        random_size(w, random, "m", 1 << 24);
    random_size(w, random, "d", 65535);
    random_size(w, random, "e", 65535);
    if (random_below(random, 3) == 0) {
        random_number(text, sizeof text, random, 0);
        add(w, "scale", text);
    }
    for (int i = 0; i < 4; i++)
        if (random_below(random, 3) == 0)
            add(w, dtype_keys[i], all[random_below(random, i == 1 ? 2 : 4)]);
    random_size(w, random, "chunk", 1 << 24);
    random_size(w, random, "splits", 1 << 24);
    if (random_below(random, 2))
        add(w, "family", families[random_below(random, 6)]);
    if (random_below(random, 2)) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)random_word(random));
        add(w, "seed", text);
    }
}

static void join(char *line, size_t len, const words *w)
{
    line[0] = '\0';
    for (int i = 0; i < w->count; i++)
        snprintf(line + strlen(line), len - strlen(line), "%s%s", i ? " " : "", w->word[i]);
}

static void shuffle(words *w, uint64_t *random)
{
    for (int i = w->count - 1; i > 0; i--) {
        const uint32_t j = random_below(random, (uint32_t)i + 1);
        char swap[sizeof w->word[0]];
        memcpy(swap, w->word[i], sizeof swap);
        memcpy(w->word[i], w->word[j], sizeof swap);
        memcpy(w->word[j], swap, sizeof swap);
    }
}

typedef struct coverage {
    int preset[64];
    int value[ATTEST_AXIS_COUNT][16];
} coverage;

static void note(coverage *seen, const attest_case *c)
{
    for (size_t i = 0; i < attest_preset_count; i++) {
        const size_t len = strlen(attest_presets[i].name);
        if (strncmp(c->preset, attest_presets[i].name, len) == 0 && (c->preset[len] == '\0' || c->preset[len] == ':'))
            seen->preset[i]++;
    }
    for (int i = 0; i < ATTEST_AXIS_COUNT; i++)
        seen->value[i][c->problem.axis[i].value]++;
}

START_TEST(round_trip)
{
    static coverage seen;
    uint64_t random = 11;
    int count = 0, tried = 0;
    while (count < 20000) {
        words w;
        attest_case c, again, other;
        attest_error err = { "" };
        char line[4096], printed[ATTEST_LINE], reprinted[ATTEST_LINE];
        must(++tried < 400000, "only %d of %d lines are legal", count, tried);
        random_case(&w, &random);
        join(line, sizeof line, &w);
        const attest_status status = attest_case_parse(&c, line, NULL, NULL, &err);
        if (status == ATTEST_BAD_INPUT && (strstr(err.text, "contradicts") || strstr(err.text, "multiple of hkv") ||
                                           strstr(err.text, "2^40 rows") || strstr(err.text, "above 0 and below 1")))
            continue;
        must(status == ATTEST_OK, "%s: %s", line, err.text);
        ck_assert(attest_case_print(printed, sizeof printed, &c, &err) == ATTEST_OK);
        must(attest_case_parse(&again, printed, NULL, NULL, &err) == ATTEST_OK, "%s: %s", printed, err.text);
        must(same_case(&c, &again), "%s printed as %s is another case", line, printed);
        ck_assert(attest_case_print(reprinted, sizeof reprinted, &again, &err) == ATTEST_OK);
        ck_assert_str_eq(printed, reprinted);
        ck_assert_uint_eq(attest_case_hash(&c), attest_case_hash(&again));
        shuffle(&w, &random);
        join(line, sizeof line, &w);
        other = parsed(line);
        must(same_case(&c, &other), "the order of %s matters", line);
        note(&seen, &c);
        count++;
    }
    for (size_t i = 0; i < attest_preset_count; i++)
        must(seen.preset[i] > 20, "%s: %d cases", attest_presets[i].name, seen.preset[i]);
    for (int i = 0; i < ATTEST_AXIS_COUNT; i++)
        for (uint32_t v = 0; v < attest_axes[i].value_count; v++)
            must(seen.value[i][v] > 20, "%s value %u: %d cases", attest_axes[i].key, v, seen.value[i][v]);
}
END_TEST

/* { line, canonical line } */
static const char *const canonical[][2] = {
    { "", "variant=softmax" },
    { "  \t variant=softmax \n", "variant=softmax" },
    { "seed=0 family=normal splits=1 chunk=64 out=f32 p=f32 acc=f32 in=f32 scale=0.25 e=16 d=16 m=64 n=64 hkv=1 hq=1 "
      "b=1 packed=off lens_q=none dropout=none decay_input=factor kv=in pages=none attn_mask=none bias=none state=none "
      "alibi=none cap=none clamp=none "
      "eps=0 update=add affine=none norm=sum gates=none decay=none "
      "lens=none window=none mask=full rope=none feature=identity filter=none center=zero weight=exp variant=softmax",
      "variant=softmax" },
    { "seed=1 family=flat splits=2 chunk=8 out=bf16 p=f16 acc=f64 in=f32 scale=2 e=5 d=4 m=7 n=6 hkv=2 hq=4 b=3 "
      "alibi=draw cap=50 clamp=5 eps=0.5 affine=draw norm=rms gates=in lens=draw window=3 mask=causal-br rope=10000 "
      "feature=unit filter=2 weight=taylor:3",
      "variant=softmax weight=taylor:3 filter=2 feature=unit rope=10000 mask=causal-br window=3 lens=draw gates=in "
      "norm=rms affine=draw eps=0.5 clamp=5 cap=50 alibi=draw b=3 hq=4 hkv=2 n=6 m=7 d=4 e=5 scale=2 acc=f64 p=f16 "
      "out=bf16 chunk=8 splits=2 family=flat seed=1" },
    { "variant=gate clamp=5 gates=out", "variant=gate" },
    { "variant=gate clamp=none", "variant=gate clamp=none" },
    { "variant=based weight=taylor:3", "variant=based weight=taylor:3" },
    { "mask=full variant=sla", "variant=sla mask=full" },
    { "n=5", "variant=softmax n=5" },
    { "n=5 m=64", "variant=softmax n=5 m=64" },
    { "m=5", "variant=softmax m=5" },
    { "hq=4", "variant=softmax hq=4" },
    { "hq=4 hkv=4", "variant=softmax hq=4" },
    { "d=8 e=16", "variant=softmax d=8 e=16" },
    { "d=64 scale=0.125", "variant=softmax d=64" },
    { "scale=0x1.8p-1", "variant=softmax scale=0.75" },
    { "scale=1e-400", "variant=softmax scale=0" },
    { "scale=-0", "variant=softmax scale=-0" },
    { "in=f64", "variant=softmax in=f64" },
    { "in=f64 acc=f64 p=f64 out=f64", "variant=softmax in=f64" },
    { "in=f64 acc=f32", "variant=softmax in=f64 acc=f32" },
    { "in=bf16 acc=f32 p=f32 out=bf16", "variant=softmax in=bf16" },
    { "in=f16 p=f16 acc=f64", "variant=softmax in=f16 acc=f64 p=f16" },
    { "in=f16 acc=f64 p=f64", "variant=softmax in=f16 acc=f64" },
    { "family=trace%3Aa%20b%25%41", "variant=softmax family=trace:a%20b%25A" },
    { "variant=taylor%3a4", "variant=taylor:4" },
    { "variant=filtered:0x1p-1", "variant=filtered:0.5" },
};

START_TEST(defaults_and_order)
{
    for (size_t i = 0; i < sizeof canonical / sizeof canonical[0]; i++) {
        const attest_case c = parsed(canonical[i][0]);
        attest_error err;
        char line[ATTEST_LINE];
        ck_assert(attest_case_print(line, sizeof line, &c, &err) == ATTEST_OK);
        ck_assert_str_eq(line, canonical[i][1]);
    }
    const attest_case c = parsed(NULL);
    const attest_problem *p = &c.problem;
    ck_assert(p->struct_size == sizeof *p && p->axis_count == ATTEST_AXIS_COUNT);
    ck_assert(p->b == 1 && p->hq == 1 && p->hkv == 1 && p->n == 64 && p->m == 64 && p->d == 16 && p->e == 16);
    ck_assert(p->scale == 0.25 && p->chunk == 64 && p->splits == 1 && c.seed == 0 && !strcmp(c.family, "normal"));
    ck_assert(p->in == ATTEST_F32 && p->acc == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32);
    const attest_problem q = parsed("in=f64 hq=6 n=3 d=4 out=bf16").problem;
    ck_assert(q.acc == ATTEST_F64 && q.p == ATTEST_F64 && q.out == ATTEST_BF16 && q.hkv == 6 && q.m == 3 && q.e == 4);
    const attest_problem r = parsed("in=bf16 hq=6 hkv=3 n=3 m=5 d=4 e=7 chunk=5 splits=9").problem;
    ck_assert(r.acc == ATTEST_F32 && r.out == ATTEST_BF16 && r.hkv == 3 && r.m == 5 && r.e == 7);
    ck_assert(r.chunk == 5 && r.splits == 9);
}
END_TEST

/* { line, what the message must hold } */
static const char *const bad_lines[][2] = {
    { "n=0", "problem line: n=0: a size is an integer from 1 to 16777216" },
    { "n=16777217", "16777216" },
    { "m=16777217", "m=16777217: a size is an integer from 1 to 16777216" },
    { "b=4097", "b=4097: a size is an integer from 1 to 4096" },
    { "hq=4097", "hq=4097: a size is an integer from 1 to 4096" },
    { "hkv=4097", "hkv=4097: a size is an integer from 1 to 4096" },
    { "d=65536", "d=65536: a size is an integer from 1 to 65535" },
    { "e=65536", "e=65536: a size is an integer from 1 to 65535" },
    { "b=0", "b=0" },
    { "hq=0", "hq=0" },
    { "hkv=0", "hkv=0" },
    { "d=0", "d=0" },
    { "e=0", "e=0" },
    { "m=0", "m=0" },
    { "n=-1", "n=-1" },
    { "n=+1", "n=+1" },
    { "n=01", "n=01" },
    { "n=1.0", "n=1.0" },
    { "n=18446744073709551617", "n=18446744073709551617" },
    { "pages=0", "pages=0" },
    { "lens_q=draw variant=deltanet", "a length per batch entry is no part of the delta rule" },
    { "lens_q=draw variant=cosformer", "whether its angle goes by max(n,m)" },
    { "lens_q=draw variant=taylor:2 state=draw", "what becomes of the given state" },
    { "lens_q=draw variant=retnet mask=causal-br", "a query would see keys that come later" },
    { "lens_q=len", "lens_q=len contradicts lens=none: an entry has as many queries as keys, which need lens=draw" },
    { "lens_q=len lens=draw n=3 m=4",
      "lens_q=len contradicts n=3 m=4: an entry has as many queries as keys, of n = m" },
    { "variant=deltanet lens=draw", "a length per batch entry is no part of the delta rule, but of lens_q=len" },
    { "packed=on variant=simple-gla lens=draw", "a query behind the last key has no decay there" },
    { "kv=f16 in=bf16", "kv=f16 contradicts in=bf16: only beside q in f32 may k and v be of another type" },
    { "kv=bf16 in=f64", "kv=bf16 contradicts in=f64" },
    { "kv=f32", "kv=f32" },
    { "kv=e4m3 in=f64", "kv=e4m3 contradicts in=f64: only beside q in f32, f16 or bf16 may k and v be of that type" },
    { "decay_input=log", "decay_input=log contradicts decay=none: only decay=scalar and decay=vector have logarithms" },
    { "dropout=1", "dropout=1: the rate is above 0 and below 1" },
    { "dropout=1.5", "dropout=1.5: the rate is above 0 and below 1" },
    { "dropout=0", "dropout=0: the values are none or a number > 0" },
    { "dropout=-0.1", "dropout=-0.1: the values are none or a number > 0" },
    { "dropout=nan", "dropout=nan" },
    { "variant=deltanet dropout=0.1", "update=delta contradicts dropout=0.1: dropout is no part of the delta rule" },
    { "variant=linear mask=causal state=draw dropout=0.1", "state=draw contradicts dropout=0.1: no recurrence exists" },
    { "variant=retnet decay_input=log", "decay_input=log contradicts decay=retnet" },
    { "pages=65537", "pages=65537: a page has at most 65536 tokens" },
    { "chunk=0", "chunk=0: a count is an integer from 1" },
    { "splits=0", "splits=0" },
    { "foo=1",
      "unknown key `foo`; the keys are variant weight center filter feature rope mask window lens decay gates "
      "norm affine update eps clamp cap alibi state bias attn_mask pages kv decay_input dropout lens_q packed b hq hkv "
      "n m d e scale in acc p out chunk splits family seed" },
    { "N=1", "unknown key `N`" },
    { "=1", "unknown key ``" },
    { "n=5 n=5", "n is given twice" },
    { "weight=exp weight=exp", "weight is given twice" },
    { "variant=softmax variant=softmax", "variant is given twice" },
    { "n", "`n` is not key=value" },
    { "n = 5", "`n` is not key=value" },
    { "n=", "n has an empty value" },
    { "family=", "family has an empty value" },
    { "family=a%", "family=a%: % is followed by two hexadecimal digits" },
    { "family=a%4", "two hexadecimal digits" },
    { "family=a%4g", "two hexadecimal digits" },
    { "family=a%00b", "not 00" },
    { "variant=nonsense", "variant=nonsense: unknown" },
    { "variant=taylor:65", "P is an integer from 0 to 64" },
    { "variant=softmax:1", "variant=softmax:1: softmax takes no argument" },
    { "variant=taylor", "variant=taylor: an argument is missing, taylor:P" },
    { "weight=exp:1", "weight=exp:1: exp takes no argument" },
    { "norm=floor", "norm=floor: an argument is missing, floor:NUMBER" },
    { "norm=floor:x", "norm=floor:x: the argument is a finite number" },
    { "weight=nonsense", "weight=nonsense: the values are exp taylor:P term:P power:P" },
    { "mask=none", "mask=none: the values are full causal causal-br" },
    { "eps=x", "eps=x: the values are 0 or a number > 0" },
    { "window=x", "window=x: the values are none or an integer from 1" },
    { "clamp=x", "clamp=x: the values are none or a finite number" },
    { "scale=nan", "scale=nan: scale is a finite number" },
    { "scale=inf", "scale=inf" },
    { "scale=-infinity", "scale=" },
    { "scale=1e309", "scale=1e309" },
    { "scale=1x", "scale=1x" },
    { "scale=1,5", "scale=1,5" },
    { "scale=%201", "scale= 1" },
    { "in=i64", "in=i64: the values are f32 f64 f16 bf16" },
    { "in=float32", "in=float32" },
    { "acc=bf16", "acc=bf16: the values are f32 f64" },
    { "p=f8", "p=f8" },
    { "out=F32", "out=F32" },
    { "seed=-1", "seed=-1: a seed is an integer from 0 to 18446744073709551615" },
    { "seed=18446744073709551616", "seed=18446744073709551616" },
    { "hq=6 hkv=4", "hq=6 hkv=4: hq is a multiple of hkv" },
    { "hkv=2", "hq=1 hkv=2" },
    { "rope=10000 d=5", "rope=10000 contradicts d=5" },
    { "center=max", "center=max contradicts weight=exp" },
    { "variant=deltanet window=4", "update=delta contradicts window=4" },
    { "variant=fox m=65", "decay=scalar contradicts n=64 m=65" },
    { "state=draw", "state=draw contradicts weight=exp" },
    { "variant=taylor:8 state=draw d=64", "at most 2^40 rows" },
};

START_TEST(bad_input)
{
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++) {
        attest_case c, zero;
        attest_stated stated;
        attest_error err = { "" };
        memset(&c, 0x55, sizeof c);
        memset(&zero, 0, sizeof zero);
        ck_assert_msg(attest_case_parse(&c, bad_lines[i][0], NULL, &stated, &err) == ATTEST_BAD_INPUT, "accepted %s",
                      bad_lines[i][0]);
        ck_assert_msg(strncmp(err.text, "problem line: ", 14) == 0 && strstr(err.text, bad_lines[i][1]), "%s: %s",
                      bad_lines[i][0], err.text);
        ck_assert_msg(!strchr(err.text, '\n') && memcmp(&c, &zero, sizeof c) == 0, "%s", bad_lines[i][0]);
        ck_assert(!stated.n && !stated.hq && !stated.in && !stated.scale);
    }
    static const char *const limits[] = { "b=4096 n=1", "hq=4096 n=1", "n=16777216",
                                          "m=16777216", "d=65535 n=1", "e=65535 n=1",
                                          "scale=0",    "scale=-1.5",  "seed=18446744073709551615" };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        parsed(limits[i]);
}
END_TEST

START_TEST(percent_encoding)
{
    attest_case c = parsed(NULL);
    attest_error err = { "" };
    char line[ATTEST_LINE], small[20];
    for (int start = 1; start < 256; start += 51) {
        int k = 0;
        for (int byte = start; byte < start + 51; byte++)
            c.family[k++] = (char)(unsigned char)byte;
        c.family[k] = '\0';
        ck_assert(attest_case_print(line, sizeof line, &c, &err) == ATTEST_OK);
        for (const char *s = line; *s; s++)
            ck_assert_msg((unsigned char)*s >= ' ' && *s != 0x7f, "control byte in %s", line);
        const attest_case back = parsed(line);
        ck_assert_msg(same_case(&c, &back), "%s", line);
    }
    /* the longest family; one more byte; one that fits but not when printed */
    char text[1200] = "family=";
    memset(text + 7, 'x', ATTEST_FAMILY - 1);
    parsed(text);
    text[7 + ATTEST_FAMILY - 1] = 'x';
    ck_assert(attest_case_parse(&c, text, NULL, NULL, &err) == ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "at most 255 bytes"), "%s", err.text);
    snprintf(text, sizeof text,
             "b=4096 hq=4096 hkv=1024 n=16777215 m=16777216 d=65534 e=65535 "
             "clamp=-2.2250738585072014e-308 cap=2.2250738585072014e-308 weight=taylor:64 "
             "mask=causal filter=2.2250738585072014e-308 rope=2.2250738585072014e-308 "
             "window=2147483647 norm=length-layernorm "
             "seed=18446744073709551615 family=");
    for (int i = 0; i < ATTEST_FAMILY - 1; i++)
        strcat(text, "%20");
    ck_assert(attest_case_parse(&c, text, NULL, NULL, &err) == ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "longer than 1023 bytes"), "%s", err.text);
    c = parsed("n=5 family=flat");
    ck_assert(attest_case_print(small, sizeof small, &c, &err) == ATTEST_INTERNAL);
    ck_assert_str_eq(small, "");
    for (size_t len = 0; len < 40; len++) { /* "variant=softmax n=5 family=flat" has 31 bytes */
        memset(text, 'x', sizeof text);
        ck_assert((attest_case_print(text, len, &c, &err) == ATTEST_OK) == (len > 31));
        ck_assert_msg(len == 0 || strcmp(text, len > 31 ? "variant=softmax n=5 family=flat" : "") == 0, "%zu", len);
        ck_assert_msg(text[len] == 'x', "byte %zu was touched", len);
    }
}
END_TEST

START_TEST(sizes_from_files)
{
    const attest_sizes files = { .b = 2, .hq = 6, .hkv = 3, .n = 5, .m = 7, .d = 4, .e = 9 };
    const attest_sizes some = { .n = 5, .d = 8 }, huge = { .n = (1 << 24) + 1 }, negative = { .m = -1 };
    attest_case c;
    attest_stated stated;
    attest_error err = { "" };
    ck_assert(attest_case_parse(&c, "n=5 scale=1 hq=6", &files, &stated, &err) == ATTEST_OK);
    const attest_problem *p = &c.problem;
    ck_assert(p->b == 2 && p->hq == 6 && p->hkv == 3 && p->n == 5 && p->m == 7 && p->d == 4 && p->e == 9);
    ck_assert(stated.n && stated.scale && stated.hq);
    ck_assert(!stated.b && !stated.hkv && !stated.m && !stated.d && !stated.e && !stated.in);
    ck_assert(attest_case_parse(&c, "b=1 hkv=1 m=5 d=8 e=1 in=f64", &some, &stated, &err) == ATTEST_OK);
    ck_assert(stated.b && stated.hkv && stated.m && stated.d && stated.e && stated.in && !stated.n && !stated.scale);
    ck_assert(attest_case_parse(&c, "", &some, NULL, &err) == ATTEST_OK);
    ck_assert(p->b == 1 && p->hq == 1 && p->hkv == 1 && p->n == 5 && p->m == 5 && p->d == 8 && p->e == 8);
    ck_assert(p->scale == attest_default_scale(8));
    ck_assert(attest_case_parse(&c, "hq=4", &some, NULL, &err) == ATTEST_OK && p->hkv == 4);
    ck_assert(attest_case_parse(&c, "n=6", &files, NULL, &err) == ATTEST_BAD_INPUT);
    ck_assert_str_eq(err.text, "problem line: n=6 differs from the files' n=5");
    ck_assert(attest_case_parse(&c, "", &huge, NULL, &err) == ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "from the files n=16777217"), "%s", err.text);
    ck_assert(attest_case_parse(&c, "", &negative, NULL, &err) == ATTEST_BAD_INPUT);
}
END_TEST

Suite *suite_problem(void)
{
    Suite *suite = suite_create("problem");
    TCase *tcase = tcase_create("line");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, defaults_and_order);
    tcase_add_test(tcase, round_trip);
    tcase_add_test(tcase, bad_input);
    tcase_add_test(tcase, percent_encoding);
    tcase_add_test(tcase, sizes_from_files);
    suite_add_tcase(suite, tcase);
    return suite;
}
