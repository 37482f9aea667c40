/* check_golden PACK OUTPUTS: judges OUTPUTS/CASE/o.npy, and lse.npy where it is, by a pack of `attest export --golden`.
 * C11 and libc alone, on a little endian machine:  cc -std=c11 -O2 -o check_golden check_golden.c -lm
 * Exit code 0: all is within; 1: a case fails or can tell nothing; 2: a file is missing, cut off, of another shape. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double number(const unsigned char *from, const char *type) /* <f8, <f4, <f2, or <u2: bf16 */
{
    uint64_t u = 0;
    const int bytes = type[2] - '0', bits = type[1] == 'u' ? 7 : (const int[]){ 10, 23, 52 }[bytes / 3];
    memcpy(&u, from, (size_t)bytes);
    const int64_t one = 1, top = (one << (8 * bytes - 1 - bits)) - 1, e = (int64_t)(u >> bits) & top;
    const int64_t m = (int64_t)u & ((one << bits) - 1), scale = (e ? e : 1) - top / 2 - bits;
    const double x = e < top ? ldexp((double)(e ? m | one << bits : m), (int)scale) : m ? NAN : INFINITY;
    return u >> (8 * bytes - 1) ? -x : x;
}
static void *load(const char *path, const char *type, const char *shape, size_t bytes, int needed)
{
    static char head[65546], want[400];
    void *data = malloc(bytes + 1);
    FILE *in = fopen(path, "rb");
    if (!in && !needed)
        return free(data), NULL;
    snprintf(want, sizeof want, "{'descr': '%s', 'fortran_order': False, 'shape': %s", type, shape);
    const int npy = in && data && fread(head, 1, 10, in) == 10 && memcmp(head, "\x93NUMPY\x01", 8) == 0;
    const size_t size = npy ? (unsigned char)head[8] | (size_t)(unsigned char)head[9] << 8 : 0;
    if (!npy || fread(head, 1, size, in) != size || size < strlen(want) || memcmp(head, want, strlen(want)) != 0 ||
        fread(data, 1, bytes + 1, in) != bytes)
        exit((printf("%s: %s; needed: .npy, %s, %s\n", path, in ? "another file" : "missing", type, shape), 2));
    return fclose(in), data;
}
int main(int argc, char **argv)
{
    char line[512], path[4096], name[16], output[32], type[4] = "<", verdict[16], shape[256];
    size_t count, code = 2; /* unless golden.txt has a line */
    snprintf(path, sizeof path, "%s/golden.txt", argc == 3 ? argv[1] : "");
    for (FILE *list = argc == 3 ? fopen(path, "r") : NULL; list && fgets(line, sizeof line, list);) {
        double worst = 0, bad = 0, open = 0;
        if (sscanf(line, "%15s %31s <%2s %zu %15s %255[^\n]", name, output, type + 1, &count, verdict, shape) != 6)
            continue;
        snprintf(path, sizeof path, "%s/%s/%s.golden.npy", argv[1], name, output);
        double *truth = load(path, "<f8", "(4, ", 32 * count, 1), *bound = truth + count, *first = bound + count;
        snprintf(path, sizeof path, "%s/%s/%s.npy", argv[2], name, output);
        unsigned char *got = load(path, type, shape, count * (size_t)(type[2] - '0'), strcmp(output, "o") == 0);
        for (size_t i = 0; got && i < count; i++, bound++, first++) {
            const double x = number(got + i * (size_t)(type[2] - '0'), type), off = fabs(x - truth[i]) / *bound;
            const int ok = isnan(*bound) || (isnan(*first) ? isnan(x) : *first <= x && x <= first[count]);
            worst = fmax(worst, ok ? isfinite(off) ? fmin(off, 1) : 0 : off > 1 ? off : (double)INFINITY);
            bad += !ok, open += !isfinite(*bound);
        }
        code = (code & 1) | (got && (bad > 0 || strchr("unf", *verdict))); /* undecided, no-evidence, fail */
        if (got)
            printf("%s %s %s: worst %.9g of the bound, %g outside, %g of %zu without one\n", name, output,
                   bad ? "fail" : verdict, worst, bad, open, count);
        free(truth), free(got);
    }
    return code == 2 ? printf("%s: no pack; check_golden PACK OUTPUTS\n", path), 2 : (int)code;
}
