/* ex2_fit.c - a table of ex2.approx.f32 (kernels/model/ex2.h) from what a GPU gave:
 *
 *     ex2-fit OUTPUTS GPU TABLE
 *
 * OUTPUTS: 2^23 floats, ex2(k 2^-23) for k = 0, 1, .., as they lie in memory of a little-endian machine.  Writes TABLE
 * if all 64 segments fit; else says which do not, and from which k on.  Exit 0: written; 1: no fit; 2: bad input.
 */
#include "ex2_fit.h"
#include "kernels/input.h"
#include "kernels/model/ex2_table.h"

#include <stdio.h>

static int read_outputs(uint32_t *outputs, const char *path, attest_error *err)
{
    FILE *in;
    uint64_t size;
    if (attest_input_stream(&in, &size, path, err) != ATTEST_OK)
        return 0;
    const size_t want = EX2_POINTS * sizeof *outputs, got = size == want ? fread(outputs, 1, want, in) : 0;
    fclose(in);
    if (got != want)
        attest_fail(err, ATTEST_BAD_INPUT, "%s: %llu bytes, not %zu", path, (unsigned long long)size, want);
    return got == want;
}

static int tell(const ex2_table *table, const ex2_found *found, int fits)
{
    for (int s = 0; s < EX2_SEGMENTS; s++)
        if (found[s].least > found[s].most)
            printf("segment %d: %lld of %d outputs are not those of %lld %lld %lld, the first at k = %lld\n", s,
                   (long long)found[s].wrong, EX2_RUN, (long long)table->segment[s].base,
                   (long long)table->segment[s].slope, (long long)table->segment[s].bend,
                   (long long)s * EX2_RUN + (long long)found[s].first);
    printf("%d of %d segments fit\n", fits, EX2_SEGMENTS);
    return fits == EX2_SEGMENTS;
}

int main(int argc, char **argv)
{
    static uint32_t outputs[EX2_POINTS];
    static ex2_found found[EX2_SEGMENTS];
    ex2_table table = { .shifts = 0 };
    attest_error err = { "" };
    int64_t where;
    if (argc != 4 || strlen(argv[2]) >= EX2_GPU) {
        fprintf(stderr, "ex2-fit OUTPUTS GPU TABLE\n");
        return 2;
    }
    memcpy(table.gpu, argv[2], strlen(argv[2]));
    if (!read_outputs(outputs, argv[1], &err)) {
        fprintf(stderr, "ex2-fit: %s\n", err.text);
        return 2;
    }
    const int fits = ex2_fit(&table, found, outputs, &where);
    if (fits < 0) {
        fprintf(stderr, "ex2-fit: output %lld is not in [1,2), or there is no memory (-1)\n", (long long)where);
        return 2;
    }
    if (!tell(&table, found, fits))
        return 1;
    table.hash = ex2_hash(&table);
    if (ex2_table_write(&table, argv[3], &err) != ATTEST_OK) {
        fprintf(stderr, "ex2-fit: %s\n", err.text);
        return 2;
    }
    return 0;
}
