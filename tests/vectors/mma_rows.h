/* mma_rows.h - reads a file of vectors of a tensor core: what the GPU gave for rows of products.
 *
 * Comment lines begin with #; the last of them is `# set: GPU INPUT OUTPUT PRODUCTS`, of which INPUT is bf16, f16 or
 * tf32, OUTPUT f32 or f16.  A row: PRODUCTS entries of a and as many of b, in hex, 4 digits of bf16 and f16, 8 of a
 * float of tf32; then c and d, each as the bits of a float.  A c that is to be f16 is rounded to it, to nearest, as the
 * program that made the vectors did.
 */
#ifndef ATTEST_TESTS_VECTORS_MMA_ROWS_H
#define ATTEST_TESTS_VECTORS_MMA_ROWS_H

#include "kernels/attest_float.h"
#include "kernels/model/mma.h"

#include <stdio.h>
#include <string.h>

enum { MMA_ROW_MOST = 64, MMA_SET_WORD = 16 };

typedef struct mma_set {
    const mma_core *core;
    mma_input input;
    mma_output output;
    int products;
} mma_set;

typedef struct mma_row {
    float a[MMA_ROW_MOST], b[MMA_ROW_MOST], c, d;
} mma_row;

/* Names of mma_input and mma_output. */
static inline const char *mma_input_name(mma_input input)
{
    static const char *const names[MMA_INPUTS] = { "bf16", "f16", "tf32" };
    return names[input];
}

static inline const char *mma_output_name(mma_output output) { return output == MMA_TO_F16 ? "f16" : "f32"; }

/* What a `# set:` line says; 0: it is none, or names what the model has no row for. */
static inline int mma_set_parse(mma_set *set, const char *line)
{
    char gpu[MMA_SET_WORD], input[MMA_SET_WORD], output[MMA_SET_WORD];
    if (sscanf(line, "# set: %15s %15s %15s %d", gpu, input, output, &set->products) != 4)
        return 0;
    set->core = mma_core_of(gpu);
    set->input = strcmp(input, "bf16") == 0 ? MMA_BF16 : strcmp(input, "f16") == 0 ? MMA_F16 : MMA_TF32;
    set->output = strcmp(output, "f16") == 0 ? MMA_TO_F16 : MMA_TO_F32;
    return set->core && strcmp(input, mma_input_name(set->input)) == 0 &&
           strcmp(output, mma_output_name(set->output)) == 0 && set->products > 0 && set->products <= MMA_ROW_MOST &&
           mma_rule_of(set->core, set->input, set->output).products > 0;
}

/* Reads the comments.  0: no set that the model knows. */
static inline int mma_set_read(FILE *file, mma_set *set)
{
    char line[256];
    while (fgets(line, sizeof line, file) && line[0] == '#')
        if (strncmp(line, "# set:", 6) == 0)
            return mma_set_parse(set, line);
    return 0;
}

static inline float mma_entry(mma_input input, uint32_t word)
{
    return input == MMA_BF16  ? attest_bf16_to_f32((uint16_t)word)
           : input == MMA_F16 ? attest_f16_to_f32((uint16_t)word)
                              : attest_bits_f32(word);
}

/* 1: a row; 0: the end of the file; -1: part of a row, or no number. */
static inline int mma_row_read(FILE *file, const mma_set *set, mma_row *row)
{
    uint32_t word[2 * MMA_ROW_MOST + 2];
    const int count = 2 * set->products + 2;
    for (int n = 0; n < count; n++)
        if (fscanf(file, "%x", &word[n]) != 1)
            return n == 0 && feof(file) ? 0 : -1;
    for (int t = 0; t < set->products; t++) {
        row->a[t] = mma_entry(set->input, word[t]);
        row->b[t] = mma_entry(set->input, word[set->products + t]);
    }
    row->c = attest_bits_f32(word[count - 2]);
    row->d = attest_bits_f32(word[count - 1]);
    if (set->output == MMA_TO_F16)
        row->c = attest_f16_to_f32(attest_f16_from_f32(row->c));
    return 1;
}

#endif
