/* ex2_table.c - tables of ex2.h: their hash, reader and writer. */
#include "ex2_table.h"

#include "kernels/hash.h"
#include "kernels/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t ex2_hash(const ex2_table *table)
{
    uint64_t hash = ATTEST_FNV_START;
    for (uint32_t f = 0; f < EX2_POINTS; f++) {
        const uint32_t bits = 127u << 23 | (ex2_significand(table, f) & 0x7fffff);
        const unsigned char bytes[4] = { (unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                                         (unsigned char)(bits >> 24) };
        hash = attest_fnv(hash, bytes, sizeof bytes);
    }
    return hash;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */
typedef struct ex2_lines {
    FILE *file;
    const char *path;
    int number;
    char text[128]; /* the line, without its end */
} ex2_lines;

static attest_status bad(const ex2_lines *in, attest_error *err, const char *wanted)
{
    return attest_fail(err, ATTEST_BAD_INPUT, "%s: line %d is not %s", in->path, in->number, wanted);
}

/* The next line; `wanted` is what the message says should be there. */
static attest_status next(ex2_lines *in, attest_error *err, const char *wanted)
{
    in->number++;
    if (!fgets(in->text, sizeof in->text, in->file))
        return bad(in, err, wanted);
    char *end = strchr(in->text, '\n');
    if (!end) /* too long, without an end, or with a zero byte */
        return bad(in, err, wanted);
    *end = '\0';
    return ATTEST_OK;
}

/* A decimal number from least to most - 1 at *at, ended by `end`; *at moves behind that. */
static int number(int64_t *x, char **at, char end, int64_t least, int64_t most)
{
    char *after;
    if (**at < '0' || **at > '9')
        return 0;
    errno = 0;
    *x = strtoll(*at, &after, 10);
    if (errno || *after != end || *x < least || *x >= most)
        return 0;
    *at = after + 1;
    return 1;
}

static int is_name(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    return length > 0 && text[length] == '\0' && length < EX2_GPU;
}

static attest_status read_head(ex2_table *table, ex2_lines *in, attest_error *err)
{
    attest_status status;
    ATTEST_TRY(next(in, err, "'ex2-table 1'"));
    if (strcmp(in->text, "ex2-table 1") != 0)
        return bad(in, err, "'ex2-table 1'");
    ATTEST_TRY(next(in, err, "'gpu NAME', a-z 0-9 - _"));
    if (strncmp(in->text, "gpu ", 4) != 0 || !is_name(in->text + 4))
        return bad(in, err, "'gpu NAME', a-z 0-9 - _");
    memcpy(table->gpu, in->text + 4, strlen(in->text + 4));
    ATTEST_TRY(next(in, err, "'shifts yes' or 'shifts no'"));
    table->shifts = strcmp(in->text, "shifts yes") == 0;
    if (!table->shifts && strcmp(in->text, "shifts no") != 0)
        return bad(in, err, "'shifts yes' or 'shifts no'");
    ATTEST_TRY(next(in, err, "'hash' and 16 digits 0-9 a-f"));
    if (strncmp(in->text, "hash ", 5) != 0 || strlen(in->text) != 21 || strspn(in->text + 5, "0123456789abcdef") != 16)
        return bad(in, err, "'hash' and 16 digits 0-9 a-f");
    table->hash = strtoull(in->text + 5, NULL, 16);
out:
    return status;
}

static attest_status read_segments(ex2_table *table, ex2_lines *in, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int s = 0; s < EX2_SEGMENTS; s++) {
        const char *wanted = "a segment: its number, base, slope, bend";
        ex2_segment *segment = &table->segment[s];
        int64_t index;
        ATTEST_TRY(next(in, err, wanted));
        char *at = in->text;
        if (!number(&index, &at, ' ', s, s + 1) || !number(&segment->base, &at, ' ', 1ll << 56, 1ll << 58) ||
            !number(&segment->slope, &at, ' ', 0, 1 << 20) || !number(&segment->bend, &at, '\0', 0, 1 << 16))
            return bad(in, err, wanted);
    }
    if (fgetc(in->file) != EOF)
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: more than %d lines", in->path, in->number);
out:
    return status;
}

/* Slope and bend are not negative: a segment's last significand is its largest. */
static attest_status check(const ex2_table *table, const char *path, attest_error *err)
{
    for (uint32_t s = 0; s < EX2_SEGMENTS; s++) {
        const uint32_t first = ex2_significand(table, s << EX2_BITS);
        const uint32_t last = ex2_significand(table, ((s + 1) << EX2_BITS) - 1);
        if (first < 1u << 23 || last >= 1u << 24)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: segment %u has values outside [1,2)", path, s);
    }
    const uint64_t hash = ex2_hash(table);
    if (hash != table->hash)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the integers give the hash %016" PRIx64 ", not %016" PRIx64,
                           path, hash, table->hash);
    return ATTEST_OK;
}

attest_status ex2_table_read(ex2_table *table, const char *path, attest_error *err)
{
    ex2_lines in = { .path = path };
    attest_status status;
    memset(table, 0, sizeof *table);
    ATTEST_TRY(attest_input_stream(&in.file, NULL, path, err));
    ATTEST_TRY(read_head(table, &in, err));
    ATTEST_TRY(read_segments(table, &in, err));
    ATTEST_TRY(check(table, path, err));
out:
    if (in.file)
        fclose(in.file);
    if (status != ATTEST_OK)
        memset(table, 0, sizeof *table);
    return status;
}

attest_status ex2_table_write(const ex2_table *table, const char *path, attest_error *err)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot write: %s", path, strerror(errno));
    fprintf(out, "ex2-table 1\ngpu %s\nshifts %s\nhash %016" PRIx64 "\n", table->gpu, table->shifts ? "yes" : "no",
            table->hash);
    for (int s = 0; s < EX2_SEGMENTS; s++)
        fprintf(out, "%d %" PRId64 " %" PRId64 " %" PRId64 "\n", s, table->segment[s].base, table->segment[s].slope,
                table->segment[s].bend);
    const int failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot write: %s", path, strerror(errno));
    return ATTEST_OK;
}
