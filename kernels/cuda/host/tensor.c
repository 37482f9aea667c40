/* Matrices that a warp loads and multiplies: ldmatrix, and mma.m16n8k16 by the model of kernels/model. */
#include "machine_private.h"

#include "attest_float.h"
#include "model/mma_exact.h"
#include "model/mma_lanes.h"

enum { LANES = CUDA_HOST_LANES, ROWS = 16, COLUMNS = 8, DEPTH = 16 };

/* ---- ldmatrix: lane k brings row k%8 of matrix k/8 ----------------------------------------------------------- */
static const char *distribute(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask, int turned)
{
    if (mask != UINT32_MAX)
        return "ldmatrix is for all lanes of a warp";
    for (int k = 0; k < LANES; k++) {
        uint16_t pair[4][2];
        for (int matrix = 0; matrix < 4; matrix++)
            for (int half = 0; half < 2; half++) {
                const int along = k % 4 * 2 + half, row = turned ? along : k / 4, column = turned ? k / 4 : along;
                memcpy(&pair[matrix][half], in[8 * matrix + row].byte + 2 * column, sizeof pair[matrix][half]);
            }
        memcpy(out[k].byte, pair, sizeof pair);
    }
    return NULL;
}

const char *cuda_host_matrices(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask)
{
    return distribute(in, out, mask, 0);
}

const char *cuda_host_matrices_turned(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask)
{
    return distribute(in, out, mask, 1);
}

/* ---- mma ------------------------------------------------------------------------------------------------------ *
 * The model takes eight elements side by side: here eight rows, so that `right` is a, turned, and `left` is b. */
typedef struct operands {
    float rows[DEPTH][ROWS], column[COLUMNS][DEPTH], sum[COLUMNS][ROWS];
    int16_t row_exponent[DEPTH][ROWS], column_exponent[COLUMNS][DEPTH][MMA_LANES];
} operands;

typedef float widen(uint16_t bits);

/* Two neighbours of a or b in one register: elements t and t+1 of the sum. */
static void take_row(operands *x, const mma_rule *rule, widen *wide, uint32_t both, int row, int t)
{
    for (int half = 0; half < 2; half++)
        mma_pack(rule, wide((uint16_t)(both >> 16 * half)), &x->rows[t + half][row], &x->row_exponent[t + half][row]);
}

static void take_column(operands *x, const mma_rule *rule, widen *wide, uint32_t both, int column, int t)
{
    for (int half = 0; half < 2; half++)
        mma_pack_left(rule, wide((uint16_t)(both >> 16 * half)), &x->column[column][t + half],
                      x->column_exponent[column][t + half]);
}

/* PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type". */
static void gather(operands *x, const mma_rule *rule, widen *wide, const cuda_host_slot *in)
{
    for (int k = 0; k < LANES; k++) {
        cuda_host_fragments f;
        memcpy(&f, in[k].byte, sizeof f);
        const int group = k / 4, pair = k % 4 * 2;
        for (int r = 0; r < 4; r++)
            take_row(x, rule, wide, f.a[r], group + r % 2 * 8, pair + r / 2 * 8);
        for (int r = 0; r < 2; r++)
            take_column(x, rule, wide, f.b[r], group, pair + r * 8);
        for (int r = 0; r < 4; r++)
            x->sum[pair + r % 2][group + r / 2 * 8] = f.c[r];
    }
}

/* The same without a rule: numbers as they are. */
static void multiply_exactly(widen *wide, const cuda_host_slot *in, cuda_host_slot *out)
{
    float a[ROWS][DEPTH], b[COLUMNS][DEPTH];
    cuda_host_fragments f;
    for (int k = 0; k < LANES; k++) {
        const int group = k / 4, pair = k % 4 * 2;
        memcpy(&f, in[k].byte, sizeof f);
        for (int half = 0; half < 2; half++) {
            for (int r = 0; r < 4; r++)
                a[group + r % 2 * 8][pair + r / 2 * 8 + half] = wide((uint16_t)(f.a[r] >> 16 * half));
            for (int r = 0; r < 2; r++)
                b[group][pair + r * 8 + half] = wide((uint16_t)(f.b[r] >> 16 * half));
        }
    }
    for (int k = 0; k < LANES; k++) {
        float d[4];
        memcpy(&f, in[k].byte, sizeof f);
        for (int r = 0; r < 4; r++)
            d[r] = mma_exact(f.c[r], a[k / 4 + r / 2 * 8], b[k % 4 * 2 + r % 2], 1, DEPTH);
        memcpy(out[k].byte, d, sizeof d);
    }
}

static const char *multiply(const mma_rule *rule, widen *wide, const cuda_host_slot *in, cuda_host_slot *out,
                            uint32_t mask)
{
    operands x;
    if (mask != UINT32_MAX)
        return "mma is for all lanes of a warp";
    if (machine_now()->exact) {
        multiply_exactly(wide, in, out);
        return NULL;
    }
    if (machine_now()->target < 80)
        return "mma.m16n8k16 needs sm_80; ATTEST_CUDA_HOST_GPU names an older GPU";
    gather(&x, rule, wide, in);
    for (int column = 0; column < COLUMNS; column++)
        for (int row = 0; row < ROWS; row += MMA_LANES) {
            const mma_left left = { x.column[column], x.column_exponent[column][0] };
            const mma_right right = { &x.rows[0][row], &x.row_exponent[0][row], ROWS };
            mma_lanes(rule, &x.sum[column][row], left, right, DEPTH);
        }
    for (int k = 0; k < LANES; k++) {
        float d[4];
        for (int r = 0; r < 4; r++)
            d[r] = x.sum[k % 4 * 2 + r % 2][k / 4 + r / 2 * 8];
        memcpy(out[k].byte, d, sizeof d);
    }
    return NULL;
}

const char *cuda_host_mma_bf16(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask)
{
    return multiply(&machine_now()->bf16, attest_bf16_to_f32, in, out, mask);
}

const char *cuda_host_mma_f16(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask)
{
    return multiply(&machine_now()->f16, attest_f16_to_f32, in, out, mask);
}
