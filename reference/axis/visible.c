/* visible.c - mask, window, lens, lens_q, attn_mask: which keys a row sees; pages, packed and kv, which change nothing.
 * Every engine goes by attest_visible(), and who serves attn_mask by ref_sees(); a state needs keys that are a
 * prefix. */
#include "reference/axis/rows.h"

#define ROWS_ONLY (AXIS_EVERY & ~(AXIS_STATE | AXIS_FORM))

static const axis_entry masks[] = {
    [ATTEST_MASK_FULL] = { AXIS_EVERY, NULL },
    [ATTEST_MASK_CAUSAL] = { AXIS_EVERY, NULL },
    [ATTEST_MASK_CAUSAL_BR] = { AXIS_EVERY, NULL },
};

static const axis_entry windows[] = {
    [ATTEST_WINDOW_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_WINDOW_W] = { ROWS_ONLY, NULL },
};

static const axis_entry lens[] = {
    [ATTEST_LENS_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_LENS_DRAW] = { AXIS_EVERY, NULL },
};

/* A row that is absent sees no key: it is an empty row, which nobody judges.  The exact engine's forms take all queries
 * of a head. */
static const axis_entry lens_q[] = {
    [ATTEST_LENS_Q_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_LENS_Q_DRAW] = { AXIS_EVERY & ~AXIS_FORM, NULL },
    [ATTEST_LENS_Q_LEN] = { AXIS_EVERY & ~AXIS_FORM, NULL },
};

/* Masked keys are no keys of the row (ref_row.key): every lemma is about the others (R-MASK). */
#define MASK_TENSOR                                                                                                    \
    {                                                                                                                  \
        AXIS_BALL | AXIS_EXACT, "R-MASK"                                                                               \
    }

static const axis_entry attn_masks[] = {
    [ATTEST_ATTN_MASK_NONE] = { AXIS_EVERY, NULL }, [ATTEST_ATTN_MASK_FULL] = MASK_TENSOR,
    [ATTEST_ATTN_MASK_HEAD] = MASK_TENSOR,          [ATTEST_ATTN_MASK_BATCH] = MASK_TENSOR,
    [ATTEST_ATTN_MASK_SHARED] = MASK_TENSOR,
};

/* How tensors lie before a kernel; engines read them as they are without pages, and padded. */
static const axis_entry pages[] = {
    [ATTEST_PAGES_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_PAGES_T] = { AXIS_EVERY, NULL },
};

static const axis_entry packed[] = {
    [ATTEST_PACKED_OFF] = { AXIS_EVERY, NULL },
    [ATTEST_PACKED_ON] = { AXIS_EVERY, NULL },
};

/* Engines read the numbers that k and v hold, whatever their type; those of 8 bits times their scales, exactly
 * (ref_inputs_set(), the witness by itself). */
static const axis_entry kvs[] = {
    [ATTEST_KV_IN] = { AXIS_EVERY, NULL },
    [ATTEST_KV_F16] = { AXIS_EVERY, NULL },
    [ATTEST_KV_BF16] = { AXIS_EVERY, NULL },
    [ATTEST_KV_E4M3] = { AXIS_EVERY & ~(AXIS_YARD | AXIS_DD), "R-KV-SCALE" },
    [ATTEST_KV_E5M2] = { AXIS_EVERY & ~(AXIS_YARD | AXIS_DD), "R-KV-SCALE" },
};

axis_entry axis_mask_entry(uint32_t value) { return AXIS_ENTRY(masks, value); }

axis_entry axis_window_entry(uint32_t value) { return AXIS_ENTRY(windows, value); }

axis_entry axis_lens_entry(uint32_t value) { return AXIS_ENTRY(lens, value); }

axis_entry axis_lens_q_entry(uint32_t value) { return AXIS_ENTRY(lens_q, value); }

axis_entry axis_packed_entry(uint32_t value) { return AXIS_ENTRY(packed, value); }

axis_entry axis_attn_mask_entry(uint32_t value) { return AXIS_ENTRY(attn_masks, value); }

axis_entry axis_pages_entry(uint32_t value) { return AXIS_ENTRY(pages, value); }

axis_entry axis_kv_entry(uint32_t value) { return AXIS_ENTRY(kvs, value); }
