/* declare_text.c - see declare_text.h: one table of fields, read and printed. */
#include "kernels/library/declare_text.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/declared.h"
#include "kernels/problem/problem.h"

#define WORD 256

/* ---- the table ---------------------------------------------------------------------------------------------- */
typedef enum field_kind {
    FIELD_ENUM = 0,   /* a uint32_t, by the words of the list */
    FIELD_SET = 1,    /* a uint32_t of bits, words separated by commas */
    FIELD_DTYPE = 2,  /* a uint32_t: 1 + attest_dtype */
    FIELD_NUMBER = 3, /* a double */
    FIELD_COUNT = 4   /* an int64_t */
} field_kind;

typedef struct word_value {
    const char *word;
    uint32_t value;
} word_value;

typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset;           /* in attest_declaration */
    const word_value *words; /* ends with a NULL word */
} field;

static const word_value tristates[] = { { "unknown", 0 }, { "yes", ATTEST_YES }, { "no", ATTEST_NO }, { NULL, 0 } };
static const word_value schedules[] = {
    { "unknown", 0 },
    { "two-pass", ATTEST_SCHEDULE_TWO_PASS },
    { "online", ATTEST_SCHEDULE_ONLINE },
    { "split", ATTEST_SCHEDULE_SPLIT },
    { "direct", ATTEST_SCHEDULE_DIRECT },
    { "recurrent", ATTEST_SCHEDULE_RECURRENT },
    { "chunk", ATTEST_SCHEDULE_CHUNK },
    { NULL, 0 },
};
static const word_value roundings[] = {
    { "unknown", 0 },
    { "nearest", ATTEST_ROUNDING_NEAREST },
    { "truncate", ATTEST_ROUNDING_TRUNCATE },
    { NULL, 0 },
};
static const word_value divisions[] = {
    { "unknown", 0 },
    { "after-sum", ATTEST_DIVISION_AFTER_SUM },
    { "then-cast", ATTEST_DIVISION_THEN_CAST },
    { "after-cast", ATTEST_DIVISION_AFTER_CAST },
    { "running", ATTEST_DIVISION_RUNNING },
    { NULL, 0 },
};
static const word_value empty_rows[] = {
    { "zero", ATTEST_EMPTY_ZERO },
    { "nan", ATTEST_EMPTY_NAN },
    { "mean", ATTEST_EMPTY_MEAN },
    { "any", ATTEST_EMPTY_ANY },
    { NULL, 0 },
};
static const word_value forms[] = {
    { "parallel", ATTEST_PARALLEL },   { "tiled", ATTEST_TILED }, { "split", ATTEST_SPLIT },
    { "recurrent", ATTEST_RECURRENT }, { "chunk", ATTEST_CHUNK }, { NULL, 0 },
};
static const word_value flags[] = {
    { "deterministic", ATTEST_DETERMINISTIC },
    { "batch-invariant", ATTEST_BATCH_INVARIANT },
    { "ftz", ATTEST_FTZ },
    { "lse-base2", ATTEST_LSE_BASE2 },
    { "lse-with-sink", ATTEST_LSE_WITH_SINK },
    { "packed-state", ATTEST_PACKED_STATE },
    { "masked-finite", ATTEST_MASKED_FINITE },
    { "serial-sums", ATTEST_SERIAL_SUMS },
    { "alibi-by-key", ATTEST_ALIBI_BY_KEY },
    { NULL, 0 },
};
static const word_value outputs[] = {
    { "o", ATTEST_GIVES_O },
    { "u", ATTEST_GIVES_U },
    { "z", ATTEST_GIVES_Z },
    { "lse", ATTEST_GIVES_LSE },
    { "state", ATTEST_GIVES_STATE },
    { "takes-state", ATTEST_TAKES_STATE },
    { NULL, 0 },
};

#define OWN(name) #name, offsetof(attest_declaration, name)
#define OF(name) #name, offsetof(attest_declaration, numerics.name)
#define ROW(place, kind, list) ROW_OF(place, kind, list)
#define ROW_OF(key, offset, kind, list)                                                                                \
    {                                                                                                                  \
        key, kind, offset, list                                                                                        \
    }

static const field fields[] = {
    ROW(OWN(form), FIELD_ENUM, forms),
    ROW(OWN(flags), FIELD_SET, flags),
    ROW(OWN(outputs), FIELD_SET, outputs),
    ROW(OF(schedule), FIELD_ENUM, schedules),
    ROW(OF(tile), FIELD_COUNT, NULL),
    ROW(OF(splits), FIELD_COUNT, NULL),
    ROW(OF(exp_error), FIELD_NUMBER, NULL),
    ROW(OF(log2_domain), FIELD_ENUM, tristates),
    ROW(OF(cast_in_sum), FIELD_ENUM, tristates),
    ROW(OF(p_rounding), FIELD_ENUM, roundings),
    ROW(OF(acc_truncates), FIELD_ENUM, tristates),
    ROW(OF(acc_unit), FIELD_NUMBER, NULL),
    ROW(OF(block), FIELD_COUNT, NULL),
    ROW(OF(div_error), FIELD_NUMBER, NULL),
    ROW(OF(scale_dtype), FIELD_DTYPE, NULL),
    ROW(OF(state_dtype), FIELD_DTYPE, NULL),
    ROW(OF(empty_row), FIELD_ENUM, empty_rows),
    ROW(OF(division), FIELD_ENUM, divisions),
    ROW(OF(score_dtype), FIELD_DTYPE, NULL),
    ROW(OF(compensated), FIELD_ENUM, tristates),
    ROW(OF(score_unit), FIELD_NUMBER, NULL),
    ROW(OF(value_unit), FIELD_NUMBER, NULL),
    ROW(OF(score_acc), FIELD_DTYPE, NULL),
    ROW(OF(value_acc), FIELD_DTYPE, NULL),
    ROW(OF(score_block), FIELD_COUNT, NULL),
    ROW(OF(tanh_error), FIELD_NUMBER, NULL),
    ROW(OF(log_error), FIELD_NUMBER, NULL),
    ROW(OF(sigmoid_error), FIELD_NUMBER, NULL),
    ROW(OF(expm1_error), FIELD_NUMBER, NULL),
    ROW(OF(scaled_dtype), FIELD_DTYPE, NULL),
    ROW(OF(decay_products), FIELD_ENUM, tristates),
};
#define FIELDS (sizeof fields / sizeof fields[0])

void attest_declaration_init(attest_declaration *d)
{
    *d = (attest_declaration){ .numerics = { .struct_size = sizeof d->numerics },
                               .form = ATTEST_PARALLEL,
                               .outputs = ATTEST_GIVES_O };
}

/* ---- reading ------------------------------------------------------------------------------------------------ */
static attest_status refuse_word(const field *f, const char *value, attest_error *err)
{
    char list[WORD] = "";
    size_t n = 0;
    for (const word_value *w = f->words; w->word && n < sizeof list; w++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", w->word);
    return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s: %s", f->key, value, list);
}

static const word_value *find_word(const field *f, const char *text, size_t len)
{
    for (const word_value *w = f->words; w->word; w++)
        if (strlen(w->word) == len && strncmp(w->word, text, len) == 0)
            return w;
    return NULL;
}

static attest_status read_words(uint32_t *to, const field *f, const char *value, attest_error *err)
{
    *to = 0;
    for (const char *at = value;; at++) {
        const size_t len = f->kind == FIELD_SET ? strcspn(at, ",") : strlen(at);
        const word_value *w = find_word(f, at, len);
        if (!w)
            return refuse_word(f, value, err);
        *to |= w->value;
        at += len;
        if (*at == '\0')
            return ATTEST_OK;
    }
}

static attest_status read_dtype(uint32_t *to, const field *f, const char *value, attest_error *err)
{
    for (uint32_t dtype = ATTEST_F32; dtype <= ATTEST_BF16; dtype++)
        if (strcmp(value, attest_dtype_name(dtype)) == 0) {
            *to = 1 + dtype;
            return ATTEST_OK;
        }
    return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s: f32, f64, f16 or bf16", f->key, value);
}

/* Decimal, or 2^X. */
static attest_status read_number(double *to, const field *f, const char *value, attest_error *err)
{
    const int power = strncmp(value, "2^", 2) == 0;
    char *end;
    errno = 0;
    const double x = strtod(value + (power ? 2 : 0), &end);
    *to = power ? exp2(x) : x;
    if (end == value + (power ? 2 : 0) || *end != '\0' || !isfinite(*to) || *to < 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s: a number from 0 on, or 2^X", f->key, value);
    return ATTEST_OK;
}

static attest_status read_count(int64_t *to, const field *f, const char *value, attest_error *err)
{
    char *end;
    errno = 0;
    *to = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno || *to < 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s: a whole number from 0 on", f->key, value);
    return ATTEST_OK;
}

static const field *field_of(const char *word)
{
    const size_t key = strcspn(word, "=");
    for (size_t i = 0; i < FIELDS && word[key]; i++)
        if (strlen(fields[i].key) == key && strncmp(fields[i].key, word, key) == 0)
            return &fields[i];
    return NULL;
}

attest_status attest_declaration_word(attest_declaration *d, int *taken, const char *word, attest_error *err)
{
    const field *f = field_of(word);
    *taken = f != NULL;
    if (!f)
        return ATTEST_OK;
    const char *value = strchr(word, '=') + 1;
    void *at = (char *)d + f->offset;
    switch (f->kind) {
    case FIELD_DTYPE: return read_dtype(at, f, value, err);
    case FIELD_NUMBER: return read_number(at, f, value, err);
    case FIELD_COUNT: return read_count(at, f, value, err);
    default: return read_words(at, f, value, err);
    }
}

attest_status attest_declaration_add(attest_declaration *d, const char *text, attest_error *err)
{
    char word[WORD], why[WORD];
    uint64_t seen = 0;
    int taken;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)(len < WORD ? len : WORD - 1), at);
        const field *f = field_of(word);
        if (f && seen >> (f - fields) & 1)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s is given twice", f->key);
        seen |= f ? UINT64_C(1) << (f - fields) : 0;
        const attest_status status = attest_declaration_word(d, &taken, word, err);
        if (status != ATTEST_OK)
            return status;
        if (!taken)
            return attest_fail(err, ATTEST_BAD_INPUT,
                               "'%s' declares nothing: form, flags, outputs or a field of attest_numerics "
                               "(kernels/attest.h), as key=value",
                               word);
        at += len;
    }
    if (!attest_numerics_check(&d->numerics, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    return ATTEST_OK;
}

attest_status attest_declaration_parse(attest_declaration *d, const char *text, attest_error *err)
{
    attest_declaration_init(d);
    return attest_declaration_add(d, text, err);
}

/* ---- printing ----------------------------------------------------------------------------------------------- */
static void print_set(char *text, size_t len, const field *f, uint32_t value)
{
    size_t n = 0;
    text[0] = '\0';
    for (const word_value *w = f->words; w->word && n < len; w++)
        if (f->kind == FIELD_SET ? (value & w->value) != 0 : w->value == value)
            n += (size_t)snprintf(text + n, len - n, "%s%s", n ? "," : "", w->word);
}

static void print_number(char *text, size_t len, double x)
{
    int exponent;
    if (frexp(x, &exponent) == 0.5)
        snprintf(text, len, "2^%d", exponent - 1);
    else
        attest_double_text(text, len, x);
}

/* The value as text; "" where it is 0. */
static void print_field(char *text, size_t len, const field *f, const attest_declaration *d)
{
    const void *at = (const char *)d + f->offset;
    const uint32_t word = f->kind <= FIELD_DTYPE ? *(const uint32_t *)at : 0;
    text[0] = '\0';
    if (f->kind == FIELD_NUMBER && *(const double *)at > 0)
        print_number(text, len, *(const double *)at);
    else if (f->kind == FIELD_COUNT && *(const int64_t *)at > 0)
        snprintf(text, len, "%lld", (long long)*(const int64_t *)at);
    else if (f->kind == FIELD_DTYPE && word > 0)
        snprintf(text, len, "%s", attest_dtype_name(word - 1));
    else if (f->kind <= FIELD_SET && word > 0)
        print_set(text, len, f, word);
}

attest_status attest_declaration_print(char *text, size_t len, const attest_declaration *d, attest_error *err)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < FIELDS; i++) {
        char value[WORD];
        print_field(value, sizeof value, &fields[i], d);
        if (*value)
            n += (size_t)snprintf(text + n, n < len ? len - n : 0, "%s%s=%s", n ? " " : "", fields[i].key, value);
    }
    return n < len ? ATTEST_OK : attest_fail(err, ATTEST_INTERNAL, "a declaration of %zu bytes", n);
}
