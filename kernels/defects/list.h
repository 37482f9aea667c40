/* list.h - every planted defect, one row each: what the gate must catch (attest defects, attest list defects).
 *
 *     DEFECT(id, "base kernel", "the real bugs it models", "what is wrong")
 *
 * id is the name (its kernel's has `-` for `_`), and kernels/defects/ID.c is the file: it includes the base kernel's
 * source with one step replaced (cpu/step.h says how), and nothing else.  The kernel keeps the numerics and flags that
 * its base declares.  Bugs are cited as Bnn PROJECT#NUMBER (what was reported there) or as arXiv:NUMBER; `-` where the
 * step is a classic slip without a report.
 */
#ifndef DEFECT
#error "define DEFECT(id, base, bugs, what) before including this"
#endif

/* ---- softmax and precision */
DEFECT(exp2_for_exp, "softmax-two-pass-f32", "B25 flash-attention#2316", "weights are 2^(s-m) instead of e^(s-m)")
DEFECT(max_zero, "softmax-online-f32", "B18 flash-attention#2082", "the running maximum starts at 0, not -inf")

/* ---- Taylor and states */
DEFECT(factorial_missing, "taylor-direct-f32", "-", "degree n of T_P has weight 1 instead of 1/n!")
