/* compare.c - the model of tensor cores against a set of vectors on standard input (mma_rows.h); by `make mma-vectors`.
 *
 * Prints `GPU INPUT OUTPUT: EQUAL of ROWS equal`, and the first row that is not.  Exit 0: all are, and there is one.
 * --time: for each rule of the table, what a step of one output element costs by mma_add() and by mma_lanes().
 */
#include "kernels/model/mma_lanes.h"
#include "mma_rows.h"

#include <stdlib.h>
#include <time.h>

/* d by the eight lanes of mma_lanes.h, all of which hold the row. */
static float by_lanes(const mma_rule *rule, const mma_set *set, const mma_row *row)
{
    float a[MMA_ROW_MOST], b[MMA_ROW_MOST][MMA_LANES], c[MMA_LANES];
    int16_t of_a[MMA_ROW_MOST][MMA_LANES], of_b[MMA_ROW_MOST][MMA_LANES];
    for (int t = 0; t < set->products; t++) {
        mma_pack_left(rule, row->a[t], &a[t], of_a[t]);
        for (int n = 0; n < MMA_LANES; n++)
            mma_pack(rule, row->b[t], &b[t][n], &of_b[t][n]);
    }
    for (int n = 0; n < MMA_LANES; n++)
        c[n] = row->c;
    const mma_left left = { a, of_a[0] };
    const mma_right right = { b[0], of_b[0], MMA_LANES };
    mma_lanes(rule, c, left, right, set->products);
    return c[5];
}

/* ---- --time ----------------------------------------------------------------------------------------------------- */
enum { TIME_K = 64, TIME_COLUMNS = 64, TIME_ROUNDS = 9, TIME_REPEATS = 200 };

typedef struct time_tile {
    float a[TIME_K], b[TIME_K][TIME_COLUMNS], column[TIME_K];
    int16_t of_a[TIME_K][MMA_LANES], of_b[TIME_K][TIME_COLUMNS];
} time_tile;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Numbers in [1/2,2) of either sign, of bf16 and thereby of all types. */
static void fill(time_tile *tile, const mma_rule *rule)
{
    uint32_t word = 7;
    for (int t = 0; t < TIME_K; t++) {
        word = word * 1664525 + 1013904223;
        mma_pack_left(rule, mma_float(0x3f000000u | (word & 0x80ff0000u)), &tile->a[t], tile->of_a[t]);
        for (int n = 0; n < TIME_COLUMNS; n++) {
            word = word * 1664525 + 1013904223;
            mma_pack(rule, mma_float(0x3f000000u | (word & 0x80ff0000u)), &tile->b[t][n], &tile->of_b[t][n]);
        }
        tile->column[t] = tile->b[t][0];
    }
}

/* Median nanoseconds of a step; 0: lanes, 1: mma_add(). */
static double time_of(const time_tile *tile, const mma_rule *rule, int alone)
{
    double round[TIME_ROUNDS];
    volatile float kept = 0;
    for (int k = 0; k < TIME_ROUNDS; k++) {
        const double start = seconds();
        for (int repeat = 0; repeat < TIME_REPEATS; repeat++)
            for (int n = 0; n < TIME_COLUMNS; n += alone ? 1 : MMA_LANES) {
                float c[MMA_LANES] = { 0 };
                const mma_left left = { tile->a, tile->of_a[0] };
                const mma_right right = { &tile->b[0][n], &tile->of_b[0][n], TIME_COLUMNS };
                if (alone)
                    c[0] = mma_add(rule, 0, tile->a, tile->column, TIME_K);
                else
                    mma_lanes(rule, c, left, right, TIME_K);
                kept += c[0];
            }
        round[k] = (seconds() - start) * 1e9 / ((double)TIME_REPEATS * TIME_COLUMNS * TIME_K / rule->products);
    }
    (void)kept;
    qsort(round, TIME_ROUNDS, sizeof round[0], compare_doubles);
    return round[TIME_ROUNDS / 2];
}

static int print_times(void)
{
    static time_tile tile;
    printf("ns a step (median of %d rounds):   eight lanes   alone\n", TIME_ROUNDS);
    for (int core = 0; core < MMA_CORES; core++)
        for (int kind = 0; kind < MMA_INPUTS + 1; kind++) {
            const mma_output output = kind == MMA_INPUTS ? MMA_TO_F16 : MMA_TO_F32;
            const mma_input input = kind == MMA_INPUTS ? MMA_F16 : (mma_input)kind;
            const mma_rule rule = mma_rule_of(&mma_cores[core], input, output);
            if (rule.products == 0)
                continue;
            fill(&tile, &rule);
            printf("%-6s %-5s %-4s %2d products %15.2f %7.1f\n", mma_cores[core].gpu, mma_input_name(input),
                   mma_output_name(output), rule.products, time_of(&tile, &rule, 0), time_of(&tile, &rule, 1));
        }
    return 0;
}

int main(int argc, char **argv)
{
    mma_set set;
    mma_row row;
    if (argc == 2 && strcmp(argv[1], "--time") == 0)
        return print_times();
    if (!mma_set_read(stdin, &set)) {
        fprintf(stderr, "compare: no `# set: GPU INPUT OUTPUT PRODUCTS` that the model has a row for\n");
        return 2;
    }
    const mma_rule rule = mma_rule_of(set.core, set.input, set.output);
    int rows = 0, equal = 0, state;
    while ((state = mma_row_read(stdin, &set, &row)) == 1) {
        const float d = mma_add(&rule, row.c, row.a, row.b, set.products), lanes = by_lanes(&rule, &set, &row);
        const int same = mma_bits(d) == mma_bits(row.d) && mma_bits(lanes) == mma_bits(row.d);
        if (!same && rows == equal)
            printf("row %d: the GPU gives %a, the model %a, its lanes %a\n", rows + 1, (double)row.d, (double)d,
                   (double)lanes);
        equal += same;
        rows++;
    }
    printf("%s %s %s: %d of %d equal%s\n", set.core->gpu, mma_input_name(set.input), mma_output_name(set.output), equal,
           rows, state < 0 ? ", and a row that is malformed" : "");
    return state < 0 ? 2 : rows == 0 || equal < rows;
}
