/* exp_table.c - prints dd_table.c (contract: reference/dd/dd_table.h): the constants of the dd engine's exp, log and
 * series, by MPFR at 400 bits.
 *
 * Run by the build; nothing here is part of attest itself.  Every pair (hi, lo) is a number rounded to nearest: hi to
 * 53 bits, lo the rest to 53 bits, so |x - hi - lo| <= 2^-53 |lo| <= 2^-106 |x|.
 */
#include <mpfr.h>
#include <stdio.h>

enum { STEPS = 1024, TERMS = 65, BITS = 400 };

/* Prints x as { hi, lo } and leaves x. */
static void print_pair(const mpfr_t x)
{
    mpfr_t rest;
    const double hi = mpfr_get_d(x, MPFR_RNDN);
    mpfr_init2(rest, BITS);
    mpfr_sub_d(rest, x, hi, MPFR_RNDN);
    printf("{ %a, %a },\n", hi, mpfr_get_d(rest, MPFR_RNDN));
    mpfr_clear(rest);
}

/* The leading `bits` bits of x, which they are taken off. */
static double take(mpfr_t x, mpfr_prec_t bits)
{
    mpfr_t part;
    mpfr_init2(part, bits);
    mpfr_set(part, x, MPFR_RNDN);
    const double value = mpfr_get_d(part, MPFR_RNDN);
    mpfr_sub(x, x, part, MPFR_RNDN);
    mpfr_clear(part);
    return value;
}

int main(void)
{
    mpfr_t x, y;
    mpfr_init2(x, BITS);
    mpfr_init2(y, BITS);
    puts("/* Made by reference/tables/exp_table.c. */\n#include \"reference/dd/dd_table.h\"\n");
    printf("const double dd_power[%d][2] = {\n", STEPS);
    for (long i = 0; i < STEPS; i++) {
        mpfr_set_si(x, i, MPFR_RNDN);
        mpfr_div_si(x, x, STEPS, MPFR_RNDN);
        mpfr_exp2(x, x, MPFR_RNDN);
        print_pair(x);
    }
    printf("};\nconst double dd_inverse_factorial[%d][2] = {\n", TERMS);
    for (unsigned long n = 0; n < TERMS; n++) {
        mpfr_fac_ui(y, n, MPFR_RNDN);
        mpfr_ui_div(x, 1, y, MPFR_RNDN);
        print_pair(x);
    }
    mpfr_const_log2(x, MPFR_RNDN);
    puts("};\nconst double dd_ln2[1][2] = {");
    print_pair(x);
    puts("};");
    mpfr_div_si(x, x, STEPS, MPFR_RNDN);
    mpfr_ui_div(y, 1, x, MPFR_RNDN);
    printf("const double dd_steps_per_unit = %a;\n", mpfr_get_d(y, MPFR_RNDN));
    const double first = take(x, 33), second = take(x, 33);
    printf("const double dd_step[3] = { %a, %a, %a };\n", first, second, mpfr_get_d(x, MPFR_RNDN));
    mpfr_clears(x, y, (mpfr_ptr)0);
    mpfr_free_cache();
    return 0;
}
