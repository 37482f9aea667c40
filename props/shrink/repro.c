/* repro.c - see repro.h. */
#include "props/shrink/repro.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "av1"

void attest_repro_clear(attest_repro *repro) { attest_example_clear(&repro->example); }

/* CRC-32/ISO-HDLC: reflected polynomial 0xedb88320, start and end inverted. */
static uint32_t crc_of(const char *text, size_t len)
{
    uint32_t crc = UINT32_MAX;
    for (size_t k = 0; k < len; k++) {
        crc ^= (unsigned char)text[k];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* ---- printing ----------------------------------------------------------------------------------------------- */

typedef struct writer {
    char *text; /* ATTEST_REPRO_MOST + 1 bytes */
    size_t used;
    int full;
} writer;

static void put(writer *w, const char *text)
{
    for (; *text && !w->full; text++) {
        w->full = w->used == ATTEST_REPRO_MOST;
        if (!w->full)
            w->text[w->used++] = *text;
    }
}

/* Characters of a part that a shell, a file name and the id itself leave alone. */
static int is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("-_.=/+", c));
}

static void put_part(writer *w, const char *part)
{
    for (; *part; part++) {
        char code[4] = { *part, '\0' };
        if (*part == ' ')
            code[0] = ',';
        else if (!is_plain(*part))
            snprintf(code, sizeof code, "%%%02X", (unsigned)(unsigned char)*part);
        put(w, code);
    }
}

static void put_tensor(writer *w, attest_tensor_id id, const attest_tensor *t)
{
    char text[40];
    attest_tensor_id_print(text, sizeof text, id);
    put(w, ":");
    put(w, text);
    for (int64_t at = 0; at < attest_tensor_count(t) && !w->full; at++) {
        snprintf(text, sizeof text, "%c%" PRIx64, at == 0 ? '=' : '.', attest_load_bits(t, at));
        put(w, text);
    }
}

static void put_repro(writer *w, const attest_repro *repro, const char *line)
{
    char text[40];
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const attest_example *example = &repro->example;
    const size_t count = attest_problem_inputs(&example->c.problem, ids, ATTEST_MAX_TENSORS);
    put(w, VERSION ":");
    put_part(w, repro->property);
    put(w, ":");
    put_part(w, repro->kernel);
    snprintf(text, sizeof text, ":%" PRIu32 ":", example->number);
    put(w, text);
    put_part(w, line);
    for (size_t k = 0; example->explicit_values && k < count; k++)
        put_tensor(w, ids[k], attest_bundle_get(example->inputs, ids[k]));
    snprintf(text, sizeof text, ":%08" PRIx32, crc_of(w->text, w->used));
    put(w, text);
}

attest_status attest_repro_print(char **text, const attest_repro *repro, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char line[ATTEST_LINE];
    writer w = { calloc(ATTEST_REPRO_MOST + 1, 1), 0, 0 };
    *text = NULL;
    if (!w.text)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a repro id");
    ATTEST_TRY(attest_case_print(line, sizeof line, &repro->example.c, err));
    put_repro(&w, repro, line);
    if (!w.full) {
        *text = w.text;
        w.text = NULL;
    }
out:
    free(w.text);
    return status;
}

/* ---- parsing ------------------------------------------------------------------------------------------------ */

static attest_status refuse(attest_error *err, const char *what, const char *where)
{
    return attest_fail(err, ATTEST_BAD_INPUT, "repro id: %s: `%.60s`", what, where);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* to[len] = the part with escapes and commas undone; 0: an escape is wrong, a byte is not plain, or it is longer. */
static int decode(char *to, size_t len, const char *part)
{
    size_t used = 0;
    for (; *part; part++) {
        char c = *part == ',' ? ' ' : *part;
        if (*part == '%') {
            const int high = hex_digit(part[1]), low = high < 0 ? -1 : hex_digit(part[2]);
            c = low < 0 ? '\0' : (char)(unsigned char)(16 * high + low);
            part += low < 0 ? 0 : 2;
        } else if (*part != ',' && !is_plain(*part)) {
            c = '\0';
        }
        if (c == '\0' || used + 1 >= len)
            return 0;
        to[used++] = c;
    }
    to[used] = '\0';
    return used > 0;
}

/* The next part of the id, cut off at its colon; NULL after the last. */
static char *next_part(char **rest)
{
    char *part = *rest;
    if (part) {
        char *colon = strchr(part, ':');
        if (colon)
            *colon++ = '\0';
        *rest = colon;
    }
    return part;
}

/* Hexadecimal digits, lower case, no leading zeros, below 2^bits; *end: what comes behind. */
static int take_hex(uint64_t *value, int bits, const char **end)
{
    const char *at = *end;
    *value = 0;
    for (; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++) {
        if (*value >> 60)
            return 0;
        *value = *value << 4 | (uint64_t)hex_digit(*at);
    }
    const int digits = (int)(at - *end), padded = digits > 1 && **end == '0';
    *end = at;
    return digits > 0 && !padded && (bits == 64 || *value >> bits == 0);
}

/* NAME=BITS.BITS.. of the next input that the problem has. */
static attest_status take_tensor(attest_example *example, attest_tensor_id id, const char *part, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = &example->c.problem;
    char name[40], what[96];
    attest_tensor *t, shape;
    attest_tensor_id_print(name, sizeof name, id);
    const size_t len = strlen(name);
    snprintf(what, sizeof what, "tensor %s is missing", name);
    if (!part || strncmp(part, name, len) != 0 || part[len] != '=')
        return refuse(err, what, part ? part : "the end");
    attest_tensor_describe(&shape, p, id, 0);
    snprintf(what, sizeof what, "%s has %" PRId64 " values of type %s", name, attest_tensor_count(&shape),
             attest_dtype_name(shape.dtype));
    if (attest_tensor_count(&shape) > ATTEST_REPRO_MOST)
        return refuse(err, what, part);
    ATTEST_TRY(attest_bundle_add(example->inputs, p, id, 0, &t, err));
    const char *at = part + len;
    const attest_tensor *same = NULL; /* what len_q must be */
    if (id.kind == ATTEST_KIND_ROLE && id.index == ATTEST_Q_LENS &&
        p->axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_LEN)
        same = attest_bundle_role(example->inputs, ATTEST_KV_LENS);
    for (int64_t x = 0; x < attest_tensor_count(t); x++) {
        uint64_t bits;
        if (*at++ != (x == 0 ? '=' : '.') || !take_hex(&bits, 8 * (int)attest_dtype_bytes(t->dtype), &at))
            return refuse(err, what, part);
        if (t->dtype == ATTEST_I64 && bits > (uint64_t)(id.index == ATTEST_Q_LENS ? p->n : p->m))
            return refuse(err, id.index == ATTEST_Q_LENS ? "len_q is at most n" : "len is at most m", part);
        if (same && (int64_t)bits != attest_load_int(same, x))
            return refuse(err, "len_q is len with lens_q=len", part);
        if (t->dtype == ATTEST_BOOL && bits > 1)
            return refuse(err, "attn_mask and keep are 0 or 1", part);
        attest_store_bits(t, x, bits);
    }
    if (*at != '\0')
        return refuse(err, what, part);
out:
    return status;
}

/* All inputs, in the order of attest_problem_inputs(). */
static attest_status take_values(attest_example *example, char *rest, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&example->c.problem, ids, ATTEST_MAX_TENSORS);
    example->explicit_values = 1;
    ATTEST_TRY(attest_bundle_new(&example->inputs, err));
    for (size_t k = 0; k < count; k++)
        ATTEST_TRY(take_tensor(example, ids[k], next_part(&rest), err));
    if (rest)
        ATTEST_TRY(refuse(err, "more tensors than the problem has", rest));
out:
    return status;
}

static attest_status take_case(attest_example *example, const char *number, const char *part, attest_error *err)
{
    char line[ATTEST_LINE], canonical[ATTEST_LINE];
    uint64_t bytes;
    attest_status status = ATTEST_OK;
    example->number = number ? (uint32_t)strtoul(number, NULL, 10) : 0;
    snprintf(canonical, sizeof canonical, "%" PRIu32, example->number);
    if (!number || strcmp(number, canonical) != 0)
        return refuse(err, "the number of the case is missing, or no integer below 2^32", number ? number : "the end");
    if (!part || !decode(line, sizeof line, part))
        return refuse(err, "no problem line", part ? part : "the end");
    status = attest_case_parse(&example->c, line, NULL, NULL, err);
    if (status == ATTEST_OK)
        status = attest_family_check(&example->c, err);
    if (status == ATTEST_OK)
        status = attest_problem_memory(&example->c.problem, &bytes, err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, "repro id");
    ATTEST_TRY(attest_case_print(canonical, sizeof canonical, &example->c, err));
    if (strcmp(canonical, line) != 0)
        return refuse(err, "the problem line is not the canonical one", line);
out:
    return status;
}

/* Cuts the CRC off. */
static attest_status check_crc(char *text, attest_error *err)
{
    char *last = strrchr(text, ':'), want[16];
    const size_t len = (size_t)(last - text);
    snprintf(want, sizeof want, "%08" PRIx32, crc_of(text, len));
    if (strcmp(last + 1, want) != 0)
        return refuse(err, "it was changed or cut: its last part is not the CRC-32 of the rest", last + 1);
    *last = '\0';
    return ATTEST_OK;
}

attest_status attest_repro_parse(attest_repro *repro, const char *text, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *copy = NULL, *rest;
    memset(repro, 0, sizeof *repro);
    if (strncmp(text, VERSION ":", strlen(VERSION ":")) != 0)
        return refuse(err,
                      text[0] == 'a' && text[1] == 'v' ? "another version than " VERSION
                                                       : "it does not begin with " VERSION ":",
                      text);
    if (strlen(text) > ATTEST_REPRO_MOST)
        return refuse(err, "it is too long", text);
    copy = strdup(text);
    if (!copy)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a repro id");
    ATTEST_TRY(check_crc(copy, err));
    rest = copy;
    (void)next_part(&rest);
    const char *property = next_part(&rest), *kernel = next_part(&rest);
    if (!property || !decode(repro->property, sizeof repro->property, property))
        ATTEST_TRY(refuse(err, "no property", property ? property : "the end"));
    if (!kernel || !decode(repro->kernel, sizeof repro->kernel, kernel))
        ATTEST_TRY(refuse(err, "no kernel", kernel ? kernel : "the end"));
    const char *number = next_part(&rest), *line = next_part(&rest);
    ATTEST_TRY(take_case(&repro->example, number, line, err));
    if (rest)
        ATTEST_TRY(take_values(&repro->example, rest, err));
    else
        ATTEST_TRY(attest_example_draw(&repro->example, &repro->example.c, repro->example.number, err));
out:
    free(copy);
    if (status != ATTEST_OK)
        attest_repro_clear(repro);
    return status;
}
