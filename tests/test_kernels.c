/* test_kernels.c - the built-in kernels: each against tests/kernels_naive.h over variants, axes, masks, heads, sizes,
 * dtypes, windows, lengths, strides and states; what must not change a bit; which cells are served; supports().
 */
#include "tests/kernels_case.h"

Suite *suite_kernels(void);

/* ---- against the naive formula ---------------------------------------------------------------------------------- */

/* |got - want| <= error, infinities and NaNs alike. */
static int near(double got, double want, double error)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= error;
}

static void check_element(const attest_tensor *t, int64_t at, double want, double error, const char *where)
{
    if (t)
        ck_assert_msg(near(attest_load(t, at), want, error), "%s element %lld: got %.9g, want %.9g +- %.3g", where,
                      (long long)at, attest_load(t, at), want, error);
}

/* 1 if o was compared. */
static int check_row(const attest_bundle *bundle, const attest_problem *p, int64_t b, int64_t h, int64_t i,
                     const char *where)
{
    const attest_tensor *o = attest_bundle_role(bundle, ATTEST_O), *u = attest_bundle_role(bundle, ATTEST_U);
    const attest_tensor *z = attest_bundle_role(bundle, ATTEST_Z), *lse = attest_bundle_role(bundle, ATTEST_LSE);
    const naive_row row = naive_attention(p, b, h, i);
    char text[400];
    if (!row.judged)
        return 0;
    snprintf(text, sizeof text, "%s row %d %d %d", where, (int)b, (int)h, (int)i);
    if (z)
        check_element(z, attest_offset(z, b, h, i, 0), row.z, row.z_error, text);
    if (lse && row.lse_regular)
        check_element(lse, attest_offset(lse, b, h, i, 0), row.lse, row.lse_error, text);
    for (int64_t c = 0; c < p->e; c++) {
        const int64_t at = attest_offset(o, b, h, i, c);
        if (row.regular)
            check_element(o, at, row.o[c], row.o_error[c], text);
        check_element(u, at, row.u[c], row.u_error[c] + attest_unit_roundoff(p->acc) * fabs(row.u[c]), text);
    }
    return row.regular;
}

static void check_states(const attest_bundle *bundle, const attest_problem *p, int n, int packed, const char *where)
{
    const attest_tensor *h = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_HT, (uint32_t)n });
    const attest_tensor *z = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_ZT, (uint32_t)n });
    const int64_t dim = attest_feature_dim(p);
    double want, error;
    for (int64_t head = 0; h && head < p->b * p->hkv; head++) {
        const int64_t b = head / p->hkv, g = head % p->hkv;
        int64_t row = 0;
        for (int64_t at = 0; at < attest_state_rows(dim, n, 0); at++) {
            if (packed && !is_sorted(at, n, dim))
                continue;
            want = naive_state(&error, p, n, b, g, at, -1);
            check_element(z, attest_offset(z, b, g, row, 0), want, error, where);
            for (int64_t c = 0; c < p->e; c++) {
                want = naive_state(&error, p, n, b, g, at, c);
                check_element(h, attest_offset(h, b, g, row, c), want, error, where);
            }
            row++;
        }
        ck_assert_msg(row == h->shape[2], "%s: state %d has %lld rows, want %lld", where, n, (long long)h->shape[2],
                      (long long)row);
    }
}

/* ---- the cases ------------------------------------------------------------------------------------------------ */

/* Settings that are laid over each of the bases; what contradicts the base is left out. */
static const char *const bases[] = { "softmax", "no-denominator", "taylor:2", "linear", "term:3",
                                     "taylor:3 center=max" };
static const char *const settings[] = {
    "", "center=min", "center=mid", "center=mid filter=0.4", "norm=none", "norm=sum",
    "feature=elu1", "feature=relu", "feature=unit", "feature=silu",
    "feature=silu-unit", "feature=cosformer", "rope=100", "rope=10000 feature=elu1", "rope=10 feature=silu-unit",
    "rope=30 feature=cosformer", "decay=retnet", "decay=scalar", "decay=vector", "decay=vector rope=100",
    "decay=scalar gates=heads", "decay=retnet gates=in", "gates=in", "gates=out", "gates=inout",
    "gates=pre-out", "gates=heads",
    "gates=pre-out norm=rms", "norm=sink", "norm=sink gates=inout", "norm=floor:1.5", "norm=length", "norm=l2",
    "norm=rms", "norm=layernorm", "norm=length-l2", "norm=length-rms", "norm=length-layernorm",
    "norm=rms affine=draw eps=0.01", "norm=layernorm affine=draw eps=0.5 gates=out", "norm=length-rms affine=draw",
    "norm=length-layernorm affine=draw eps=0.1", "norm=l2 eps=0.01", "eps=0.5", "clamp=0.1", "cap=0.5", "alibi=draw",
    "cap=0.5 alibi=draw clamp=0.1", "norm=none cap=0.5 alibi=draw clamp=-0.1", "filter=0.3", "filter=0.7 norm=none",
    "filter=0.5 decay=scalar norm=sink", "norm=none rope=10 alibi=draw gates=inout"
};
static const char *const masks[] = { "full", "causal", "causal-br" };
static const char *const shapes[] = { "b=2 hq=4 hkv=2 n=5 m=7 d=4 e=2", "hq=3 hkv=1 n=7 m=5 d=2 e=3",
                                      "n=1 m=1 d=2 e=1", "hq=2 n=3 m=70 d=4 e=3 scale=9",
                                      "b=3 n=20 m=20 d=3 e=1 scale=-0.7", "b=2 hq=4 hkv=2 n=9 m=9 d=4 e=3",
                                      "hq=2 n=12 d=2 e=4" };
static const char *const extras[] = { "", "lens=draw", "window=3", "lens=draw window=4", "state=draw",
                                      "state=draw lens=draw" };
static const char *const dtypes[] = { "", "in=bf16", "in=f16", "in=bf16 p=bf16", "in=f64", "in=bf16 out=f32", "" };
static const char *const orders[] = { "", ":0", ":1", ":3", ":4" }; /* of presets with P; TAU of filtered is 0.25, .. */

/* Variant number n as text; 0 when there is none.  First the presets, then the settings over the bases. */
static int variant_text(char *text, size_t len, size_t n)
{
    const size_t named = attest_preset_count * COUNT(orders);
    if (n < named) {
        const attest_preset *preset = &attest_presets[n / COUNT(orders)];
        const size_t order = n % COUNT(orders);
        if (preset->argument == ATTEST_ARG_NUMBER)
            snprintf(text, len, "%s:%g", preset->name, 0.25 * (double)(order + 1));
        else
            snprintf(text, len, "%s%s", preset->name,
                     preset->argument == ATTEST_ARG_NONE ? "" : order == 0 ? ":2" : orders[order]);
        return 1;
    }
    n -= named;
    snprintf(text, len, "%s %s", bases[n / COUNT(settings) % COUNT(bases)], settings[n % COUNT(settings)]);
    return n < COUNT(bases) * COUNT(settings);
}

/* 0 if the line is contradictory or the kernel refuses it (with a reason). */
static int parse_for(attest_case *c, const attest_kernel *k, const char *line)
{
    attest_error err;
    char why[256] = "";
    if (attest_case_parse(c, line, NULL, NULL, &err) != ATTEST_OK)
        return 0;
    if (k->supports(&c->problem, why, sizeof why))
        return 1;
    ck_assert_msg(why[0] != '\0', "%s refuses '%s' without a reason", k->name, line);
    return 0;
}

/* For one kernel: every variant with `picks` different choices of mask, shape, extra and dtype, of those that it
 * computes; returns how many it computed. */
static int each_case(const attest_kernel *k, int picks,
                     int (*check)(const attest_kernel *, const attest_case *, const char *))
{
    char variant[128], line[320], where[384];
    int judged = 0;
    for (size_t n = 0; variant_text(variant, sizeof variant, n); n++) {
        int found = 0;
        for (int try = 0; found < picks && try < 40 * picks; try++) {
            attest_case c;
            const uint64_t pick = naive_hash((int64_t)n, try, 0, 0, 0);
            snprintf(line, sizeof line, "variant=%s mask=%s %s %s %s splits=%d chunk=%d", variant, masks[pick % 3],
                     shapes[pick / 3 % COUNT(shapes)], extras[pick / 64 % COUNT(extras)],
                     dtypes[pick / 512 % COUNT(dtypes)], (int)(pick / 4096 % 5 + 1), (int)(pick / 32768 % 5 + 1));
            snprintf(where, sizeof where, "%s: %s", k->name, line);
            if (!parse_for(&c, k, line))
                continue;
            const int done = check(k, &c, where);
            judged += done;
            found += done;
        }
    }
    return judged;
}

/* 1 if some o was compared. */
static int check_naive(const attest_kernel *k, const attest_case *c, const char *where)
{
    const attest_problem *p = &c->problem;
    attest_bundle *bundle = run_case(k, p);
    int lowest, highest, compared = 0;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++)
        compared |= check_row(bundle, p, row / p->n / p->hq, row / p->n % p->hq, row % p->n, where);
    if (k->outputs & ATTEST_GIVES_STATE && attest_variant_degrees(p->axis, &lowest, &highest))
        for (int n = lowest; n <= highest; n++)
            check_states(bundle, p, n, (k->flags & ATTEST_PACKED_STATE) != 0, where);
    attest_bundle_free(bundle);
    return compared;
}

/* The suite test_kernels_delta.c has the kernels of update=delta and efla. */
static int is_delta(const attest_kernel *k) { return strncmp(k->name, "delta-", 6) == 0; }

START_TEST(test_naive)
{
    const attest_kernel *k = attest_builtin_library()->kernels[_i];
    const int judged = is_delta(k) ? 60 : each_case(k, 2, check_naive);
    ck_assert_msg(judged >= 60, "%s computed only %d cases", k->name, judged);
}
END_TEST

/* ---- properties that need no reference ------------------------------------------------------------------------- */

/* The same tensor with heads and tokens (of other ranks all axes) in the other order and a hole of 0x7f bytes after
 * each element. */
static attest_tensor respread(const attest_tensor *t, void **memory)
{
    static const int order[5][4] = { { 0 }, { 0 }, { 1, 0 }, { 2, 1, 0 }, { 3, 1, 2, 0 } }; /* innermost first */
    const size_t bytes = attest_dtype_bytes(t->dtype);
    attest_tensor s = *t;
    int64_t size = 2;
    for (int n = 0; n < t->rank; n++) {
        s.stride[order[t->rank][n]] = size;
        size *= t->shape[order[t->rank][n]];
    }
    *memory = malloc((size_t)size * bytes);
    ck_assert_ptr_nonnull(*memory);
    memset(*memory, 0x7f, (size_t)size * bytes);
    s.data = *memory;
    return s;
}

/* Element number `at` of t, in C order, as an offset of s. */
static int64_t same_element(const attest_tensor *s, const attest_tensor *t, int64_t at)
{
    int64_t there = 0;
    for (int axis = t->rank - 1; axis >= 0; at /= t->shape[axis], axis--)
        there += at % t->shape[axis] * s->stride[axis];
    return there;
}

/* All tensors with other strides and holes: the same bits, and the holes stay as they are. */
static int check_strided(const attest_kernel *k, const attest_case *c, const char *where)
{
    const attest_problem *p = &c->problem;
    attest_bundle *bundle = run_case(k, p);
    attest_tensors view, plain;
    attest_tensor spread[ATTEST_ROLE_COUNT];
    void *memory[ATTEST_ROLE_COUNT];
    attest_bundle_view(bundle, &view);
    plain = view;
    for (int r = 0; r < ATTEST_ROLE_COUNT; r++) {
        if (!view.role[r])
            continue;
        spread[r] = respread(view.role[r], &memory[r]);
        for (int64_t at = 0; at < attest_tensor_count(plain.role[r]); at++)
            attest_store_bits(&spread[r], same_element(&spread[r], plain.role[r], at),
                              attest_load_bits(plain.role[r], at));
        view.role[r] = &spread[r];
    }
    const attest_tensor *o = plain.role[ATTEST_O];
    for (int64_t at = 0; at < attest_tensor_count(o); at++)
        attest_store_bits(&spread[ATTEST_O], at * 2, 0);
    run(k, p, &view);
    for (int64_t at = 0; at < attest_tensor_count(o); at++) {
        const int64_t there = same_element(&spread[ATTEST_O], o, at);
        ck_assert_msg(attest_load_bits(o, at) == attest_load_bits(&spread[ATTEST_O], there), "%s: o[%lld] differs",
                      where, (long long)at);
        ck_assert_msg((attest_load_bits(&spread[ATTEST_O], there + 1) & 0xffff) == 0x7f7f, "%s: wrote a hole", where);
    }
    for (int r = 0; r < ATTEST_ROLE_COUNT; r++)
        if (plain.role[r])
            free(memory[r]);
    attest_bundle_free(bundle);
    return 1;
}

/* Is the row one that sees a key or a state? */
static int alive(const attest_problem *p, int64_t b, int64_t i)
{
    int seen = (int)p->axis[ATTEST_AXIS_STATE].value;
    for (int64_t j = 0; j < p->m; j++)
        seen |= naive_sees(p, b, i, j);
    return seen;
}

/* Does any row read token t of role r?  Keys, values and their gates: if it sees the key; decays: from the key after
 * its first one (with a state: from 0) to itself; queries and their gates: if it sees anything. */
static int is_read(const attest_problem *p, uint32_t r, int64_t b, int64_t token)
{
    if (r == ATTEST_Q || r == ATTEST_GOUT || r == ATTEST_SQ)
        return alive(p, b, token);
    for (int64_t i = 0; i < p->n; i++) {
        int64_t first = 0;
        while (first < p->m && !naive_sees(p, b, i, first))
            first++;
        if (r == ATTEST_A ? alive(p, b, i) && token <= i && (token > first || p->axis[ATTEST_AXIS_STATE].value)
                          : naive_sees(p, b, i, token))
            return 1;
    }
    return 0;
}

/* NaN wherever no row reads: not a bit of any output changes. */
static int check_invisible(const attest_kernel *k, const attest_case *c, const char *where)
{
    static const uint32_t roles[] = { ATTEST_Q, ATTEST_GOUT, ATTEST_SQ, ATTEST_K, ATTEST_V, ATTEST_GIN, ATTEST_SK,
                                      ATTEST_A };
    const attest_problem *p = &c->problem;
    attest_bundle *bundle = run_case(k, p), *clean = run_case(k, p);
    attest_tensors view, want;
    int poisoned = 0;
    attest_bundle_view(bundle, &view);
    attest_bundle_view(clean, &want);
    for (size_t n = 0; n < COUNT(roles); n++) {
        const attest_tensor *t = view.role[roles[n]];
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
            const int64_t token = at / (t->rank > 3 ? t->shape[3] : 1), b = token / t->shape[2] / t->shape[1];
            if (is_read(p, roles[n], b, token % t->shape[2]))
                continue;
            put(t, at, NAN);
            poisoned = 1;
        }
    }
    run(k, p, &view);
    for (uint32_t r = ATTEST_O; r <= ATTEST_LSE; r++)
        ck_assert_msg(!view.role[r] || memcmp(view.role[r]->data, want.role[r]->data,
                                              attest_tensor_bytes(want.role[r])) == 0,
                      "%s: an unread NaN changed %s", where, attest_roles[r].name);
    attest_bundle_free(clean);
    attest_bundle_free(bundle);
    return poisoned;
}

START_TEST(test_bits)
{
    const attest_kernel *k = attest_builtin_library()->kernels[_i];
    if (is_delta(k))
        return;
    ck_assert_msg(each_case(k, 1, check_strided) >= 20, "%s: too few cases", k->name);
    ck_assert_msg(each_case(k, 1, check_invisible) >= 20, "%s: too few cases with unread positions", k->name);
}
END_TEST

/* ---- the cells ------------------------------------------------------------------------------------------------ */

static int served(const attest_problem *p, uint32_t form)
{
    const attest_library *lib = attest_builtin_library();
    char why[256];
    int count = 0;
    for (uint32_t k = 0; k < lib->kernel_count; k++)
        count += lib->kernels[k]->form == form && lib->kernels[k]->supports(p, why, sizeof why);
    return count;
}

/* Every legal (variant, form, input type) has a kernel: presets as they are, and each setting over each base. */
START_TEST(test_cells)
{
    char variant[128], line[256], why[256];
    int cells = 0;
    for (size_t n = 0; variant_text(variant, sizeof variant, n); n++)
        for (int mask = 0; mask < 3; mask++)
            for (int in = 0; in < 2; in++) {
                attest_case c;
                attest_error err;
                snprintf(line, sizeof line, "variant=%s mask=%s d=4 n=8 in=%s", variant, masks[mask],
                         in ? "bf16" : "f32");
                if (attest_case_parse(&c, line, NULL, NULL, &err) != ATTEST_OK)
                    continue;
                for (uint32_t form = ATTEST_PARALLEL; form <= ATTEST_CHUNK; form++) {
                    const int legal = attest_variant_form_legal(c.problem.axis, form, why, sizeof why);
                    ck_assert_msg(!legal || served(&c.problem, form) > 0, "'%s': no kernel of form %s", line,
                                  attest_form_name(form));
                    cells += legal;
                }
            }
    ck_assert_int_ge(cells, 2000);
}
END_TEST

/* ---- carried states ---------------------------------------------------------------------------------------------- */

/* Tokens [from, from + n) of the whole problem's tensors. */
static attest_tensor slice(const attest_tensor *t, int64_t from, int64_t n)
{
    attest_tensor s = *t;
    s.shape[2] = n;
    s.data = (char *)t->data + (size_t)(from * t->stride[2]) * attest_dtype_bytes(t->dtype);
    return s;
}

/* The second half of the tokens, starting from the first half's states, against the whole. */
static void check_composition(const attest_kernel *k, const char *variant)
{
    attest_case c;
    char line[256];
    attest_tensors whole, part;
    attest_error err;
    attest_bundle *scratch;
    attest_tensor cut[4];
    const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_U };
    snprintf(line, sizeof line, "variant=%s mask=causal b=2 hq=4 hkv=2 n=12 d=3 e=2 chunk=4", variant);
    ck_assert_msg(parse_for(&c, k, line), "%s: %s", k->name, line);
    attest_problem half = c.problem;
    half.n = half.m = 6;
    attest_bundle *bundle = run_case(k, &c.problem);
    attest_bundle_view(bundle, &whole);
    ck_assert_int_eq(attest_bundle_new(&scratch, &err), ATTEST_OK);
    add_outputs(scratch, &half, k); /* the first half's states, and u and z of both halves in turn */
    for (int round = 0; round < 2; round++) {
        attest_bundle_view(scratch, &part);
        for (int r = 0; r < 3; r++) {
            cut[r] = slice(whole.role[roles[r]], round * 6, 6);
            part.role[roles[r]] = &cut[r];
        }
        if (round == 1) {
            half.axis[ATTEST_AXIS_STATE].value = ATTEST_STATE_DRAW;
            memcpy(part.h0, part.ht, sizeof part.h0); /* in place: read before it is written */
            memcpy(part.z0, part.zt, sizeof part.z0);
        }
        run(k, &half, &part);
        for (int64_t row = 0; row < 2 * 4 * 6; row++)
            for (int64_t ch = 0; ch < 2; ch++) {
                const double got = attest_load(part.role[ATTEST_U], row * 2 + ch);
                const double want = attest_load(whole.role[ATTEST_U], (row / 6 * 12 + round * 6 + row % 6) * 2 + ch);
                ck_assert_msg(near(got, want, 1e-4), "%s: %s: half %d row %lld: %.9g, whole %.9g", k->name, line,
                              round, (long long)row, got, want);
            }
    }
    for (int n = 0; n < ATTEST_STATE_SLOTS; n++)
        for (int64_t at = 0; whole.ht[n] && at < attest_tensor_count(whole.ht[n]); at++)
            ck_assert_msg(near(attest_load(part.ht[n], at), attest_load(whole.ht[n], at), 1e-4),
                          "%s: %s: ht.%d[%lld] of the halves is not that of the whole", k->name, line, n,
                          (long long)at);
    attest_bundle_free(scratch);
    attest_bundle_free(bundle);
}

START_TEST(test_composition)
{
    const char *const linear[] = { "linear-recurrent-f32", "taylor-chunk-f32", "taylor-recurrent-f32",
                                   "taylor-packed-f32" };
    for (int i = 0; i < 4; i++) {
        check_composition(kernel_named(linear[i]), "linear-elu");
        check_composition(kernel_named(linear[i]), "term:1");
    }
    for (int i = 2; i < 4; i++) {
        check_composition(kernel_named(linear[i]), "taylor:3");
        check_composition(kernel_named(linear[i]), "quadratic");
    }
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------------------------- */

START_TEST(test_refusals)
{
    static const struct { const char *kernel, *line, *reason; } cases[] = {
        { "softmax-two-pass-f32", "variant=taylor:2", "weight=taylor" },
        { "softmax-two-pass-f64", "variant=softmax", "in=f32" },
        { "softmax-two-pass-f32", "variant=softmax in=f64", "in=f64" },
        { "softmax-online-f32", "variant=gate", "norm=length" },
        { "softmax-online-f32", "variant=softmax p=bf16", "p=bf16" },
        { "softmax-online-bf16", "variant=softmax", "in=f32" },
        { "softmax-online-bf16", "variant=softmax in=bf16", "p=f32" },
        { "softmax-split-f32", "variant=softmax filter=2", "filter=TAU" },
        { "taylor-split-f32", "variant=shifted:2", "center=max" },
        { "taylor-split-f32", "variant=no-denominator splits=2", "weight=exp" },
        { "softmax-two-pass-f32", "variant=gate p=bf16", "p=bf16" },
        { "taylor-direct-f32", "variant=deltanet", "update=delta" },
        { "taylor-direct-f32", "variant=softmax", "weight=exp" },
        { "taylor-direct-f32", "variant=taylor:2 state=draw", "state=draw" },
        { "taylor-recurrent-f32", "variant=shifted:2", "center=max" },
        { "taylor-recurrent-f32", "variant=taylor:2 window=3", "window=W" },
        { "taylor-recurrent-f32", "variant=taylor:6 d=64", "2^20 rows" },
        { "taylor-recurrent-f32", "variant=taylor:40 d=1", "no normal float" },
        { "taylor-recurrent-f32", "variant=taylor:2 d=1000 e=1000", "2^26" },
        { "taylor-packed-f32", "variant=taylor:8 d=16", "2^24" },
        { "taylor-chunk-f32", "variant=taylor:6 d=64", "2^20 rows" },
        { "linear-recurrent-f32", "variant=taylor:1", "weight=taylor" },
        { "delta-parallel-f32", "variant=deltanet state=draw", "state=draw" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const attest_kernel *k = kernel_named(cases[i].kernel);
        attest_case c;
        attest_error err;
        char why[256] = "", tiny[4];
        ck_assert_msg(attest_case_parse(&c, cases[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(!k->supports(&c.problem, why, sizeof why), "%s: %s", k->name, cases[i].line);
        ck_assert_msg(strstr(why, cases[i].reason) != NULL, "%s: %s: says '%s', not '%s'", k->name, cases[i].line, why,
                      cases[i].reason);
        ck_assert_int_eq(k->supports(&c.problem, tiny, sizeof tiny), 0);
        ck_assert_int_lt((int)strlen(tiny), (int)sizeof tiny);
    }
}
END_TEST

Suite *suite_kernels(void)
{
    Suite *s = suite_create("kernels");
    TCase *numbers = tcase_create("numbers");
    const int count = (int)attest_builtin_library()->kernel_count;
    tcase_set_timeout(numbers, 60);
    tcase_add_loop_test(numbers, test_naive, 0, count);
    tcase_add_loop_test(numbers, test_bits, 0, count);
    tcase_add_test(numbers, test_cells);
    tcase_add_test(numbers, test_composition);
    tcase_add_test(numbers, test_refusals);
    suite_add_tcase(s, numbers);
    return s;
}
