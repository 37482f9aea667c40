/* dd_transforms.h - inside reference/: error-free transforms on vectors, for the three paths (dd_vector_*.h).
 *
 * All are exact under IEEE rounding to nearest without contraction, overflow and underflow (R-DD-TRANSFORMS); a
 * compiler that may reorder them is refused by dd.h, and dd_path.sound() tests what it made of them.
 */
#ifndef ATTEST_DD_TRANSFORMS_H
#define ATTEST_DD_TRANSFORMS_H

/* s + *e = a + b */
static inline vec two_sum(vec a, vec b, vec *e)
{
    const vec s = v_add(a, b), t = v_sub(s, a);
    *e = v_add(v_sub(a, v_sub(s, t)), v_sub(b, t));
    return s;
}

/* The same if |a| >= |b| or a is a multiple of ulp(b). */
static inline vec fast_two_sum(vec a, vec b, vec *e)
{
    const vec s = v_add(a, b);
    *e = v_sub(b, v_sub(s, a));
    return s;
}

/* p + *e = a b */
static inline vec two_product(vec a, vec b, vec *e)
{
    const vec p = v_mul(a, b);
#if DD_FMA
    *e = v_fms(a, b, p);
#else
    const vec split = v_all(0x1p27 + 1);
    const vec ca = v_mul(a, split), cb = v_mul(b, split);
    const vec ah = v_sub(ca, v_sub(ca, a)), bh = v_sub(cb, v_sub(cb, b)), al = v_sub(a, ah), bl = v_sub(b, bh);
    *e = v_add(v_add(v_add(v_sub(v_mul(ah, bh), p), v_mul(ah, bl)), v_mul(al, bh)), v_mul(al, bl));
#endif
    return p;
}

/* ab + c with one rounding or two; c - ab likewise */
static inline vec multiply_add(vec a, vec b, vec c)
{
#if DD_FMA
    return v_fma(a, b, c);
#else
    return v_add(c, v_mul(a, b));
#endif
}

static inline vec multiply_subtract_from(vec a, vec b, vec c)
{
#if DD_FMA
    return v_fnma(a, b, c);
#else
    return v_sub(c, v_mul(a, b));
#endif
}

/* acc + low += a b, the product exact without FMA, |acc| in one binade: what acc loses goes to low (R-DD-STEP) */
static inline void add_product(vec *acc, vec *low, vec a, vec b)
{
#if DD_FMA
    const vec t = v_fma(a, b, *acc);
    *low = v_add(*low, v_fms(a, b, v_sub(t, *acc)));
#else
    const vec p = v_mul(a, b), t = v_add(*acc, p);
    *low = v_add(*low, v_sub(p, v_sub(t, *acc)));
#endif
    *acc = t;
}

/* acc + low unchanged, |low| <= ulp(acc)/2 */
static inline void fold(vec *acc, vec *low)
{
    const vec t = v_add(*acc, *low);
    *low = v_sub(*low, v_sub(t, *acc));
    *acc = t;
}

#endif
