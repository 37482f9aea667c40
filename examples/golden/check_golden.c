/* check_golden PACK OUTPUTS: judges OUTPUTS/CASE/o.npy, and lse.npy where it is, by a pack of `attest export --golden`.
 * Little endian, .npy 1.0, bf16 as <u2, at most 99999999 elements.  cc -std=c11 -O2 -o check_golden check_golden.c -lm
 * Exit code 0: no case fails or tells nothing; 1: one does; 2: a file is missing, cut off, of another shape. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double number(const unsigned char *from, const char *type) /* <f8, <f4, <f2, or <u2: bf16 */
{
    unsigned long long u = 0;
    const int bytes = type[2] - '0', bits = type[1] == 'u' ? 7 : (const int[]){ 10, 23, 52 }[bytes / 3];
    memcpy(&u, from, (size_t)bytes);
    const long long top = (1ll << (8 * bytes - 1 - bits)) - 1, e = (long long)(u >> bits) & top;
    const long long m = (long long)u & ((1ll << bits) - 1), scale = (e ? e : 1) - top / 2 - bits;
    const double x = e < top ? ldexp((double)(e ? m | 1ll << bits : m), (int)scale) : m ? NAN : INFINITY;
    return u >> (8 * bytes - 1) ? -x : x;
}
static void *load(const char *path, const char *type, const char *shape, size_t bytes, int needed)
{
    static unsigned char head[65546];
    static char want[400];
    FILE *in = fopen(path, "rb");
    void *data = in ? malloc(bytes + 1) : NULL;
    snprintf(want, sizeof want, "{'descr': '%s', 'fortran_order': False, 'shape': %s", type, shape);
    const size_t size = in && data && fread(head, 1, 10, in) == 10 ? head[8] + (size_t)256 * head[9] : 0;
    const int npy = size >= strlen(want) && memcmp(head, "\x93NUMPY\x01", 8) == 0 && fread(head, 1, size, in) == size;
    if ((in || needed) && (!npy || memcmp(head, want, strlen(want)) != 0 || fread(data, 1, bytes + 1, in) != bytes))
        exit((printf("%s: %s; needed: .npy, %s, %s\n", path, in ? "another file" : "missing", type, shape), 2));
    return in ? fclose(in), data : NULL;
}
int main(int argc, char **argv)
{
    char path[4096], name[16], out[32], type[4] = "<", verdict[16], shape[256];
    size_t count, lines = 0, end;
    int code = 0, held = 0; /* held: by the verdict of a case, which is lse's if lse.npy is there */
    FILE *list = argc == 3 && snprintf(path, sizeof path, "%s/golden.txt", argv[1]) > 0 ? fopen(path, "r") : NULL;
    const int head = list && fscanf(list, "# attest golden 1%1[:]%*[^\n] # case%*[^\n]", name) == 1;
    while (head && fscanf(list, "%15s %31s <%1[fu]%1[248] %8zu %15s %255[^\r\n]", name, out, type + 1, type + 2, &count,
                          verdict, shape) == 7) {
        double worst = 0, bad = 0, open = 0;
        snprintf(path, sizeof path, "%s/%s/%s.golden.npy", argv[1], name, out);
        double *truth = load(path, "<f8", "(4, ", 32 * count, 1), *bound = truth + count, *first = bound + count;
        snprintf(path, sizeof path, "%s/%s/%s.npy", argv[2], name, out);
        unsigned char *got = load(path, type, shape, count * (size_t)(type[2] - '0'), *out == 'o');
        for (size_t i = 0; got && i < count; i++, bound++, first++) {
            const double x = number(got + i * (size_t)(type[2] - '0'), type), off = fabs(x - truth[i]) / *bound;
            const int is = isnan(x) ? isnan(*first) || signbit(*bound) : *first <= x && x <= first[count];
            const int ok = is || isnan(*bound);
            worst = fmax(worst, ok ? isfinite(off) ? fmin(off, 1) : 0 : off > 0 ? fmax(off, 1 + 1e-8) : HUGE_VAL);
            bad += !ok, open += !isfinite(*bound);
        }
        code |= bad > 0 || (*out == 'o' && held), held = got ? strchr("unf", *verdict) != NULL : held;
        if (got)
            printf("%s %s %s: worst %.9g of the bound, %.0f outside, %.0f of %zu without one\n", name, out,
                   bad > 0 ? "fail" : verdict, worst, bad, open, count);
        lines++, free(truth), free(got);
    }
    const int whole = lines && *name == '#' && fscanf(list, "%zu%1s", &end, name) == 1 && end == lines;
    return whole ? code | held : (printf("%s: no pack, or not all of one; needed: PACK OUTPUTS\n", argv[argc / 3]), 2);
}
