/* functions_main.c - every function of functions.h on every float of its domain; exit 1 if one errs by more than is
 * declared, or by more than a subnormal below the normal numbers.
 */
#include "tests/certify/functions.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    int failed = 0;
    printf("function  isa        floats       error      bits        at          below normal (subnormals)  at\n");
    for (size_t n = 0; certify_function_number(n); n++) {
        const certify_function *f = certify_function_number(n);
        certify_errors e;
        float at, below_at;
        certify_function_errors(&e, f, 0x80000000u, 0xffffffffu);
        memcpy(&at, &e.at, sizeof at);
        memcpy(&below_at, &e.below_at, sizeof below_at);
        const int wrong = e.wrong > 0 || e.relative > f->declared || e.subnormal > 1;
        printf("%-8s  %-9s  %-11ld  %.5g  %.6a  %a  %.3f  %a%s\n", f->name, f->isa, e.count, e.relative, e.relative,
               (double)at, e.subnormal, (double)below_at, wrong ? "  WRONG" : "");
        printf("          by MPFR at that argument: %.6a; declared %.6a; results that are wrong: %ld\n",
               certify_function_error_at(f, e.at), f->declared, e.wrong);
        failed |= wrong;
    }
    return failed;
}
