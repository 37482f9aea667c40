/* test_kernels.c - the built-in kernels: each beside the witness over variants, axes, masks, heads, sizes, dtypes,
 * windows, lengths, strides and states; what must not change a bit; which cells are served; supports().
 */
#include "kernels/hash.h"
#include "kernels/tensor/packed.h"
#include "tests/kernels/cpu/scene_check.h"

Suite *suite_kernels(void);

/* ---- the cases ------------------------------------------------------------------------------------------------ */

/* Settings that are laid over each of the bases; what contradicts the base is left out. */
// clang-format off
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
    "alibi=usual", "cap=0.5 alibi=usual clamp=0.1",
    "cap=0.5 alibi=draw clamp=0.1", "norm=none cap=0.5 alibi=draw clamp=-0.1", "filter=0.3", "filter=0.7 norm=none",
    "filter=0.5 decay=scalar norm=sink", "norm=none rope=10 alibi=draw gates=inout",
    "bias=full", "bias=head filter=0.3", "cap=0.5 bias=batch clamp=0.1", "bias=shared decay=scalar",
    "attn_mask=full", "attn_mask=head filter=0.3", "attn_mask=batch norm=length", "attn_mask=shared bias=full rope=10"
};
static const char *const masks[] = { "full", "causal", "causal-br" };
static const char *const shapes[] = { "b=2 hq=4 hkv=2 n=5 m=7 d=4 e=2", "hq=3 hkv=1 n=7 m=5 d=2 e=3",
                                      "n=1 m=1 d=2 e=1", "n=2 m=70 d=4 e=3 scale=9",
                                      "b=3 n=10 m=10 d=3 e=1 scale=-0.7", "b=2 hq=4 hkv=2 n=9 m=9 d=4 e=3",
                                      "hq=2 n=12 d=2 e=4" };
static const char *const extras[] = { "", "lens=draw", "window=3", "lens=draw window=4", "state=draw",
                                      "state=draw lens=draw", "lens_q=draw", "lens_q=draw lens=draw",
                                      "lens_q=len lens=draw" };
static const char *const dtypes[] = { "", "in=bf16", "in=f16", "in=bf16 p=bf16", "in=f64", "in=bf16 out=f32", "" };
static const char *const orders[] = { "", ":0", ":1", ":3", ":4" }; /* of presets with P; TAU of filtered is 0.25, .. */
// clang-format on

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
                     preset->argument == ATTEST_ARG_NONE ? ""
                     : order == 0                        ? ":2"
                                                         : orders[order]);
        return 1;
    }
    n -= named;
    snprintf(text, len, "%s %s", bases[n / COUNT(settings) % COUNT(bases)], settings[n % COUNT(settings)]);
    return n < COUNT(bases) * COUNT(settings);
}

/* For one kernel: every variant with `picks` different choices of mask, shape, extra and dtype, of those that it
 * computes; returns how many it computed. */
static int each_case(const attest_kernel *k, int picks, int (*check)(scene *))
{
    char variant[128], line[320];
    uint64_t random = 1;
    int judged = 0;
    for (size_t n = 0; variant_text(variant, sizeof variant, n); n++) {
        int found = 0;
        for (int try = 0; found < picks && try < 40 * picks; try++) {
            scene s;
            const uint64_t pick = attest_next64(&random);
            snprintf(line, sizeof line, "variant=%s mask=%s %s %s %s splits=%d chunk=%d seed=%d", variant,
                     masks[pick % 3], shapes[pick / 3 % COUNT(shapes)], extras[pick / 64 % COUNT(extras)],
                     dtypes[pick / 512 % COUNT(dtypes)], (int)(pick / 4096 % 5 + 1), (int)(pick / 32768 % 5 + 1), try);
            if (!scene_serves(&s, k, line) || s.c.problem.axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_ADD)
                continue;
            scene_open(&s);
            scene_run(&s);
            const int done = check(&s);
            scene_close(&s);
            judged += done;
            found += done;
        }
    }
    return judged;
}

/* Does supports() take a variant of update=add (sum) or of another update, in some dtype? */
static int serves_update(const attest_kernel *k, int sum)
{
    char variant[128], line[256], why[256];
    for (size_t n = 0; variant_text(variant, sizeof variant, n); n++)
        for (size_t type = 0; type < COUNT(dtypes); type++) {
            attest_case c;
            attest_error err;
            snprintf(line, sizeof line, "variant=%s n=4 d=2 %s", variant, dtypes[type]);
            if (attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK &&
                (c.problem.axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD) == sum &&
                attest_kernel_supports(attest_own(k), &c.problem, why, sizeof why))
                return 1;
        }
    return 0;
}

/* Kernel number n of those that serve a sum over keys, or NULL; those of the other updates: test_kernels_delta.c. */
static const attest_kernel *sum_kernel(int n)
{
    const attest_library *lib = attest_builtin_library();
    for (uint32_t k = 0; k < lib->kernel_count; k++)
        if (serves_update(lib->kernels[k], 1) && n-- == 0)
            return lib->kernels[k];
    return NULL;
}

START_TEST(test_numbers)
{
    const attest_kernel *k = sum_kernel(_i);
    const int judged = each_case(k, 1, scene_check);
    ck_assert_msg(judged >= 30, "%s computed only %d cases", k->name, judged);
}
END_TEST

/* ---- properties that need no reference ------------------------------------------------------------------------- */

/* The same tensor with heads and tokens (of other ranks all axes) in the other order and a hole of 0x7f bytes after
 * each element. */
static attest_tensor respread(const attest_tensor *t, void **memory)
{
    static const int order[5][4] = { { 0 }, { 0 }, { 0, 1 }, { 0, 1, 2 }, { 3, 1, 2, 0 } }; /* innermost first */
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

/* The tensors of a view by number: the roles, then h0, z0, ht, zt of every degree. */
enum { SLOTS = ATTEST_TENSOR_ROLES + 4 * ATTEST_STATE_SLOTS };

static const attest_tensor **slot(attest_view *view, int n)
{
    const attest_tensor **const states[] = { view->h0, view->z0, view->ht, view->zt };
    const int at = n - ATTEST_TENSOR_ROLES;
    return at < 0 ? &view->role[n] : &states[at / ATTEST_STATE_SLOTS][at % ATTEST_STATE_SLOTS];
}

static const char *slot_name(int n)
{
    static const char *const states[] = { "h0", "z0", "ht", "zt" };
    return n < ATTEST_TENSOR_ROLES ? attest_roles[n].name : states[(n - ATTEST_TENSOR_ROLES) / ATTEST_STATE_SLOTS];
}

static int slot_is_output(int n)
{
    return n < ATTEST_TENSOR_ROLES ? attest_roles[n].output : n >= ATTEST_TENSOR_ROLES + 2 * ATTEST_STATE_SLOTS;
}

/* The bits of t in s, and the holes of s as respread() left them. */
static void check_spread(const attest_tensor *s, const attest_tensor *t, const char *name, const char *where)
{
    static const char untouched[] = "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f";
    const size_t bytes = attest_dtype_bytes(t->dtype);
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        const int64_t there = same_element(s, t, at);
        const char *hole = (const char *)s->data + (size_t)(there + 1) * bytes;
        ck_assert_msg(attest_load_bits(t, at) == attest_load_bits(s, there), "%s: %s element %lld differs", where, name,
                      (long long)at);
        ck_assert_msg(memcmp(hole, untouched, bytes) == 0, "%s: wrote a hole of %s", where, name);
    }
}

/* All tensors with other strides and holes: every output has the same bits, every input and hole stays as it is. */
static int check_strided(scene *s)
{
    attest_view view = s->view, plain = s->view;
    attest_tensor spread[SLOTS];
    void *memory[SLOTS] = { NULL };
    for (int n = 0; n < SLOTS; n++) {
        const attest_tensor *t = *slot(&plain, n);
        if (!t)
            continue;
        spread[n] = respread(t, &memory[n]);
        for (int64_t at = 0; !slot_is_output(n) && at < attest_tensor_count(t); at++)
            attest_store_bits(&spread[n], same_element(&spread[n], t, at), attest_load_bits(t, at));
        *slot(&view, n) = &spread[n];
    }
    scene_run_on(s, &s->c.problem, &view);
    for (int n = 0; n < SLOTS; n++)
        if (memory[n]) {
            const attest_tensor_id id = { n < ATTEST_TENSOR_ROLES ? ATTEST_KIND_ROLE : ATTEST_KIND_H0, (uint32_t)n };
            attest_absent_clear(&spread[n], id, &s->c.problem, s->bundle);
            attest_absent_clear(*slot(&plain, n), id, &s->c.problem, s->bundle);
            check_spread(&spread[n], *slot(&plain, n), slot_name(n), s->where);
            free(memory[n]);
        }
    return 1;
}

/* As much of a case as tells who sees what. */
static wit_case lengths_of(const scene *s, int64_t b)
{
    const attest_lengths of = attest_bundle_lengths(&s->c.problem, s->bundle, b);
    return (wit_case){ .p = &s->c.problem, .len = of.keys, .len_q = of.queries };
}

/* Is the row one that sees a key or a state? */
static int alive(const scene *s, int64_t b, int64_t i)
{
    const attest_problem *p = &s->c.problem;
    const wit_case w = lengths_of(s, b);
    int seen = (int)p->axis[ATTEST_AXIS_STATE].value;
    for (int64_t j = 0; j < p->m; j++)
        seen |= wit_sees(&w, i, j);
    return seen;
}

/* Does any row read token t of role r?  Keys, values and their gates: if it sees the key; decays: from the key after
 * its first one (with a state: from 0) to itself; queries and their gates: if it sees anything.  Row -1 is that of a
 * sequence without queries, which has a final state. */
static int is_read(const scene *s, uint32_t r, int64_t b, int64_t token)
{
    const attest_problem *p = &s->c.problem;
    const wit_case w = lengths_of(s, b);
    if (r == ATTEST_Q || r == ATTEST_GOUT || r == ATTEST_Q_HEAD_LOGITS)
        return alive(s, b, token);
    for (int64_t i = w.len_q > 0 ? 0 : -1; i < p->n; i++) {
        int64_t first = 0;
        while (first < p->m && !wit_sees(&w, i, first))
            first++;
        if (r == ATTEST_DECAY ? alive(s, b, i) && token <= i && (token > first || p->axis[ATTEST_AXIS_STATE].value)
                              : wit_sees(&w, i, token))
            return 1;
    }
    return 0;
}

/* NaN wherever no row reads: not a bit of any output changes. */
static int check_invisible(scene *s)
{
    static const uint32_t roles[] = { ATTEST_Q, ATTEST_GOUT, ATTEST_Q_HEAD_LOGITS, ATTEST_K,
                                      ATTEST_V, ATTEST_GIN,  ATTEST_K_HEAD_LOGITS, ATTEST_DECAY };
    scene clean = { .kernel = s->kernel, .c = s->c };
    int poisoned = 0;
    scene_open(&clean);
    scene_run(&clean);
    for (size_t n = 0; n < COUNT(roles); n++) {
        const attest_tensor *t = s->view.role[roles[n]];
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
            const int64_t token = at / (t->rank > 3 ? t->shape[3] : 1), b = token / t->shape[2] / t->shape[1];
            if (is_read(s, roles[n], b, token % t->shape[2]))
                continue;
            attest_store_bits(t, at, attest_from_f64(t->dtype, NAN));
            poisoned = 1;
        }
    }
    scene_run(s);
    for (int n = 0; n < SLOTS; n++) {
        const attest_tensor *got = *slot(&s->view, n), *same = *slot(&clean.view, n);
        ck_assert_msg(!got || !slot_is_output(n) || memcmp(got->data, same->data, attest_tensor_bytes(same)) == 0,
                      "%s: an unread NaN changed %s", s->where, slot_name(n));
    }
    scene_close(&clean);
    return poisoned;
}

START_TEST(test_bits)
{
    const attest_kernel *k = sum_kernel(_i);
    ck_assert_msg(each_case(k, 1, check_strided) >= 20, "%s: too few cases", k->name);
    const int unread = each_case(k, 1, check_invisible);
    ck_assert_msg(unread >= 12, "%s: only %d cases with unread positions", k->name, unread);
}
END_TEST

/* ---- the cells ------------------------------------------------------------------------------------------------ */

static int serving(const attest_problem *p, uint32_t form)
{
    const attest_library *lib = attest_builtin_library();
    char why[256];
    int count = 0;
    for (uint32_t k = 0; k < lib->kernel_count; k++)
        count += lib->kernels[k]->form == form &&
                 attest_kernel_supports(attest_own(lib->kernels[k]), p, why, sizeof why);
    return count;
}

/* Legal, and served by no built-in kernel: tiles under a norm by the length of u. */
static int is_known_hole(const attest_problem *p, uint32_t form)
{
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    return form == ATTEST_TILED && (norm == ATTEST_NORM_L2 || norm == ATTEST_NORM_RMS);
}

/* Every legal (variant, form, input type) but the known holes has a kernel: presets as they are, and each setting over
 * each base. */
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
                    const int served = legal && serving(&c.problem, form) > 0;
                    ck_assert_msg(served == (legal && !is_known_hole(&c.problem, form)), "'%s': %s kernel of form %s",
                                  line, served ? "a" : "no", attest_form_name(form));
                    cells += legal;
                }
            }
    ck_assert_int_ge(cells, 2000);
    const attest_library *lib = attest_builtin_library();
    for (uint32_t k = 0; k < lib->kernel_count; k++)
        ck_assert_msg(serves_update(lib->kernels[k], 1) || serves_update(lib->kernels[k], 0), "%s serves nothing",
                      lib->kernels[k]->name);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------------------------- */

START_TEST(test_refusals)
{
    static const struct {
        const char *kernel, *line, *reason;
    } cases[] = {
        { "softmax-two-pass-f32", "variant=taylor:2", "weight=taylor" },
        { "softmax-two-pass-f64", "variant=softmax", "in=f32" },
        { "softmax-two-pass-f32", "variant=softmax in=f64", "in=f64" },
        { "softmax-online-f32", "variant=gate", "norm=length" },
        { "softmax-online-f32", "variant=softmax p=bf16", "p=bf16" },
        { "softmax-online-bf16", "variant=softmax", "in=f32" },
        { "softmax-online-bf16", "variant=softmax in=bf16", "p=f32" },
        { "softmax-split-f32", "variant=softmax filter=2", "filter=2" },
        { "taylor-split-f32", "variant=shifted:2", "center=max" },
        { "taylor-split-f32", "variant=no-denominator splits=2", "weight=exp" },
        { "softmax-two-pass-f32", "variant=gate p=bf16", "p=bf16" },
        { "taylor-direct-f32", "variant=deltanet", "update=delta" },
        { "taylor-direct-f32", "variant=softmax", "weight=exp" },
        { "taylor-direct-f32", "variant=taylor:2 state=draw", "state=draw" },
        { "taylor-recurrent-f32", "variant=shifted:2", "center=max" },
        { "taylor-recurrent-f32", "variant=taylor:2 window=3", "window=3" },
        { "taylor-recurrent-f32", "variant=taylor:6 d=64", "2^20 rows" },
        { "taylor-recurrent-f32", "variant=taylor:40 d=1", "no normal float" },
        { "taylor-recurrent-f32", "variant=taylor:2 d=1000 e=1000", "2^26" },
        { "taylor-packed-f32", "variant=taylor:8 d=16", "2^24" },
        { "taylor-chunk-f32", "variant=taylor:6 d=64", "2^20 rows" },
        { "linear-recurrent-f32", "variant=taylor:1", "weight=taylor" },
        { "delta-parallel-f32", "variant=deltanet state=draw", "state=draw" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const attest_kernel *k = scene_kernel(cases[i].kernel);
        attest_case c;
        attest_error err;
        char why[256] = "", tiny[4];
        ck_assert_msg(attest_case_parse(&c, cases[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(!attest_kernel_supports(attest_own(k), &c.problem, why, sizeof why), "%s: %s", k->name,
                      cases[i].line);
        ck_assert_msg(strstr(why, cases[i].reason) != NULL, "%s: %s: says '%s', not '%s'", k->name, cases[i].line, why,
                      cases[i].reason);
        ck_assert_int_eq(attest_kernel_supports(attest_own(k), &c.problem, tiny, sizeof tiny), 0);
        ck_assert_int_lt((int)strlen(tiny), (int)sizeof tiny);
    }
}
END_TEST

Suite *suite_kernels(void)
{
    Suite *s = suite_create("kernels");
    TCase *numbers = tcase_create("numbers"), *bits = tcase_create("bits"), *served = tcase_create("served");
    int count = 0;
    while (sum_kernel(count))
        count++;
    tcase_set_timeout(numbers, 60);
    tcase_add_loop_test(numbers, test_numbers, 0, count);
    tcase_set_timeout(bits, 60);
    tcase_add_loop_test(bits, test_bits, 0, count);
    tcase_add_test(served, test_cells);
    tcase_add_test(served, test_refusals);
    suite_add_tcase(s, numbers);
    suite_add_tcase(s, bits);
    suite_add_tcase(s, served);
    return s;
}
