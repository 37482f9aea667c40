/* truth.c - the truth of a case: rows computed on demand, by the engine asked for, and kept. */
#include "reference/truth/truth.h"

#include "reference/axis/axis.h"

#include <stdlib.h>
#include <string.h>

const char *attest_engine_name(uint32_t engine)
{
    static const char *const names[] = { "auto", "ball", "exact", "witness", "mixed", "dd" };
    return engine < sizeof names / sizeof names[0] ? names[engine] : "?";
}

void attest_reference_thread_end(void)
{
    flint_cleanup(); /* empties MPFR's caches too */
    mpfr_free_cache();
}

int attest_truth_serves(const attest_problem *p, char *why, size_t len) { return ref_ball_serves(p, why, len); }

/* ---- new and free ------------------------------------------------------------------------------------------------ */
struct ref_slot {
    int64_t key;  /* ((b*hq + h)*n + i)*(ATTEST_PRECISION_CAP + 1) + bits */
    ref_row *row; /* NULL: free slot */
};

enum { FIRST_SLOTS = 256 };
#define CACHE_BYTES ((size_t)512 << 20) /* of rows; what comes then is computed each time */
#define STATE_BYTES ((size_t)256 << 20)

/* Whether a row is rational depends on its values too (elu1 on inputs >= 0), so it is decided row by row. */
static int never_rational(const attest_problem *p) { return !axis_served(p, AXIS_EXACT, 0, NULL); }

static attest_status check_engine(const attest_problem *p, uint32_t engine, attest_error *err)
{
    char why[160];
    if (engine > ATTEST_ENGINE_DD || engine == ATTEST_ENGINE_MIXED)
        return attest_fail(err, ATTEST_BAD_INPUT, "engine: allowed are auto, dd, ball, exact, witness");
    if (!ref_ball_serves(p, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    if (engine == ATTEST_ENGINE_WITNESS && !ref_witness_serves(p, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "engine=witness: %s", why);
    if (engine == ATTEST_ENGINE_DD && !attest_enclose_serves(p, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    if (engine == ATTEST_ENGINE_EXACT && never_rational(p))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "engine=exact: this variant has irrational values; allowed are auto, ball, witness");
    return ATTEST_OK;
}

static attest_status check_tensors(const attest_problem *p, const attest_bundle *bundle, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    for (size_t t = 0; t < count; t++) {
        char name[16];
        attest_tensor want;
        const attest_tensor *got = attest_bundle_get(bundle, ids[t]);
        attest_tensor_id_print(name, sizeof name, ids[t]);
        if (!got)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: the variant reads this tensor and it is not given", name);
        attest_tensor_describe(&want, p, ids[t], 0);
        if (got->dtype != want.dtype || memcmp(got->shape, want.shape, sizeof want.shape) != 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: its shape or dtype differs from the problem's", name);
    }
    return ATTEST_OK;
}

attest_status attest_truth_new(attest_truth **truth, const attest_problem *p, const attest_bundle *in, uint32_t engine,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_truth *made = NULL;
    *truth = NULL;
    ATTEST_TRY(check_engine(p, engine, err));
    ATTEST_TRY(check_tensors(p, in, err));
    made = calloc(1, sizeof *made);
    if (made)
        made->slots = calloc(FIRST_SLOTS, sizeof *made->slots);
    if (!made || !made->slots) {
        free(made);
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for the truth");
    }
    made->p = p;
    made->bundle = in;
    made->engine = engine;
    made->slot_count = FIRST_SLOTS;
    made->spare_key = -1;
    made->state_bytes_most = STATE_BYTES;
    status = ref_inputs_set(&made->in, p, in, err);
    ref_row_init(&made->spare);
    ref_ball_cache_init(&made->ball);
    ref_exact_cache_init(&made->exact);
    made->in.ball = &made->ball;
    made->in.exact = &made->exact;
    made->in.updates = &made->updates;
    *truth = made;
    if (status != ATTEST_OK) {
        attest_truth_free(made);
        *truth = NULL;
    }
out:
    return status;
}

static void free_row(ref_row *row)
{
    ref_row_clear(row);
    free(row);
}

void attest_truth_free(attest_truth *truth)
{
    if (!truth)
        return;
    for (int64_t s = 0; s < truth->slot_count; s++)
        if (truth->slots[s].row)
            free_row(truth->slots[s].row);
    free(truth->slots);
    ref_truth_states_free(truth);
    ref_row_clear(&truth->spare);
    ref_ball_cache_clear(&truth->ball);
    ref_exact_cache_clear(&truth->exact);
    ref_update_cache_free(truth->updates);
    attest_enclosures_free(&truth->fast_o);
    attest_enclosures_free(&truth->fast_lse);
    ref_inputs_clear(&truth->in);
    free(truth);
}

const ref_inputs *ref_truth_inputs(const attest_truth *truth) { return &truth->in; }

attest_lengths attest_truth_lengths(const attest_truth *truth, int64_t b)
{
    return attest_lengths_of(truth->in.p, truth->in.role[ATTEST_KV_LENS], truth->in.role[ATTEST_Q_LENS], b);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */
static struct ref_slot *find_slot(struct ref_slot *slots, int64_t count, int64_t key)
{
    const uint64_t mask = (uint64_t)count - 1;
    uint64_t at = (uint64_t)key * 0x9e3779b97f4a7c15u >> 20 & mask;
    while (slots[at].row && slots[at].key != key)
        at = (at + 1) & mask;
    return &slots[at];
}

static attest_status grow(attest_truth *truth, attest_error *err)
{
    const int64_t count = 2 * truth->slot_count;
    struct ref_slot *slots = calloc((size_t)count, sizeof *slots);
    if (!slots)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for the cache of rows");
    for (int64_t s = 0; s < truth->slot_count; s++)
        if (truth->slots[s].row)
            *find_slot(slots, count, truth->slots[s].key) = truth->slots[s];
    free(truth->slots);
    truth->slots = slots;
    truth->slot_count = count;
    return ATTEST_OK;
}

/* Estimated bytes of a computed row: two words of mantissa sit inside an arb, more are allocated. */
static size_t row_bytes(const ref_row *row)
{
    const size_t limbs = row->prec > 128 ? (size_t)row->prec / 64 + 1 : 0;
    const size_t ball = sizeof(arb_struct) + 8 * limbs;
    return sizeof *row + (size_t)row->keys * (3 * ball + 11 * sizeof(mag_struct)) + (size_t)row->e * (2 * ball + 144);
}

/* The row of this key: a cached one, a new cached one, or the spare one when the cache is full. */
static attest_status get_row(ref_row **row, attest_truth *truth, int64_t key, attest_error *err)
{
    struct ref_slot *slot = find_slot(truth->slots, truth->slot_count, key);
    attest_status status = ATTEST_OK;
    *row = slot->row;
    if (*row)
        return ATTEST_OK;
    if (truth->bytes > CACHE_BYTES) {
        if (truth->spare_key != key)
            truth->spare.computed = 0;
        truth->spare_key = key;
        *row = &truth->spare;
        return ATTEST_OK;
    }
    if (2 * truth->used >= truth->slot_count) {
        ATTEST_TRY(grow(truth, err));
        slot = find_slot(truth->slots, truth->slot_count, key);
    }
    slot->row = malloc(sizeof *slot->row);
    if (!slot->row)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a row");
    ref_row_init(slot->row);
    slot->key = key;
    truth->used++;
    *row = slot->row;
out:
    return status;
}

static void set_empty_rationals(ref_row *row)
{
    for (int64_t c = 0; c < row->e; c++) {
        mpq_set_ui(row->uq[c], 0, 1);
        mpq_set_ui(row->oq[c], 0, 1);
    }
    mpq_set_ui(row->zq, 0, 1);
    row->rational = 1;
}

static attest_status compute(ref_row *row, attest_truth *truth, attest_row at, slong prec, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int exact = 0;
    ATTEST_TRY(ref_ball_row(row, &truth->in, at, prec, err));
    row->computed = 0; /* again 1 when the exact engine, if any, has finished too */
    if (!row->no_truth && !row->empty && (truth->engine == ATTEST_ENGINE_AUTO || truth->engine == ATTEST_ENGINE_EXACT))
        exact = ref_exact_serves(&truth->in, at);
    if (exact)
        ATTEST_TRY(ref_exact_row(row, &truth->in, at, err));
    else if (truth->engine == ATTEST_ENGINE_EXACT && !row->no_truth && !row->empty)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "engine=exact does not serve row [%lld,%lld,%lld]; allowed are auto, ball, witness",
                           (long long)at.b, (long long)at.h, (long long)at.i);
    if (row->empty)
        set_empty_rationals(row);
    row->engine = exact ? ATTEST_ENGINE_EXACT : ATTEST_ENGINE_BALL;
    if ((row->no_truth || row->empty) && !never_rational(truth->p) && truth->engine != ATTEST_ENGINE_BALL &&
        truth->engine != ATTEST_ENGINE_DD)
        row->engine = ATTEST_ENGINE_EXACT; /* nothing was computed: the row counts with its neighbours */
    row->computed = 1;
    truth->rows++;
out:
    return status;
}

int64_t attest_truth_rows(const attest_truth *truth) { return truth->rows; }

attest_status ref_truth_row(ref_row **row, attest_truth *truth, attest_row at, slong prec, attest_error *err)
{
    const attest_problem *p = truth->p;
    attest_status status = ATTEST_OK;
    const int64_t number = (at.b * p->hq + at.h) * p->n + at.i;
    ATTEST_TRY(get_row(row, truth, number * (ATTEST_PRECISION_CAP + 1) + prec, err));
    if ((*row)->computed)
        return ATTEST_OK;
    status = compute(*row, truth, at, prec, err);
    if (status == ATTEST_OK && *row != &truth->spare)
        truth->bytes += row_bytes(*row);
out:
    return status;
}

attest_status ref_truth_row_settled(ref_row **row, attest_truth *truth, attest_row at, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *row = NULL;
    for (slong prec = ATTEST_PRECISION_START; prec <= ATTEST_PRECISION_CAP; prec *= 2) {
        ATTEST_TRY(ref_truth_row(row, truth, at, prec, err));
        if (!(*row)->illposed || (*row)->rational)
            break;
    }
out:
    return status;
}
