/* exact_forms.h - private to the exact forms: all inputs of one head as dyadics, and steps on states.
 *
 * The forms share no step with the pairwise exact engine but the loading of inputs. */
#ifndef ATTEST_EXACT_FORMS_H
#define ATTEST_EXACT_FORMS_H

#include "reference/exact/exact.h"

typedef struct exact_form {
    const ref_inputs *in;
    int64_t b, h;
    int64_t n, d, e, width; /* width: decays of one token */
    int inside;             /* decay=vector: they stand inside the product <q,k> */
    int64_t tokens;         /* keys that the last query sees; [last[i] of them by query i] */
    int64_t *last;          /* [n] */
    exact_dyadic scale;
    exact_dyadic *q, *k, *v; /* [n][d], [tokens][d] after phi; [tokens][e] gated */
    exact_dyadic *beta;      /* [tokens] update=delta, efla */
    exact_dyadic *a;         /* [max(n, tokens)][width] */
    int lowest, highest;     /* degrees */
    exact_tree tree;         /* the layout of the states */
    int64_t monomials;       /* of all degrees up to highest */
    exact_dyadic *qm, *km;   /* [n][monomials], [tokens][monomials] */
    int64_t cells;           /* of a state: rows of lowest..highest, times e+1 */
    int64_t given_cells;     /* the same in the full layout */
} exact_form;

attest_status exact_form_open(exact_form *f, const ref_inputs *in, int64_t b, int64_t h, int packed, attest_error *err);
void exact_form_close(exact_form *f);

/* `count` dyadics as a copy of x, or 0 where x is NULL; NULL if memory is short. */
exact_dyadic *exact_form_copy(const exact_dyadic *x, int64_t count);
/* full[given_cells] = h0 and z0, 0 where none are given. */
void exact_form_given(exact_dyadic *full, const exact_form *f);
/* state *= the `width` factors a, a token's decays. */
void exact_form_decay(exact_dyadic *state, const exact_form *f, int full, const exact_dyadic *a);
/* state += monomials(phi(k_t)) (x) (gin_t v_t, 1). */
void exact_form_write(exact_dyadic *state, const exact_form *f, int64_t t);
/* u[e], z += what query i reads from a state, `full`: in the full layout, its orderings apart. */
attest_status exact_form_read(mpq_t *u, mpq_t z, const exact_form *f, int64_t i, int full, const exact_dyadic *state,
                              attest_error *err);
/* u[e], z += the pair (i,j): W(s-c) D (gin v, 1). */
void exact_form_pair(mpq_t *u, mpq_t z, const exact_form *f, int64_t i, int64_t j);

/* u[e], z += the states' reading by query i, both first decayed over t = from..i. */
attest_status exact_form_read_late(mpq_t *u, mpq_t z, const exact_form *f, int64_t i, int64_t from,
                                   const exact_dyadic *state, const exact_dyadic *given, attest_error *err);

/* update=delta: state[d*e] = h0.1, or left as it is; u[e] = what query i reads. */
void exact_form_delta_given(exact_dyadic *state, const exact_form *f);
void exact_form_delta_read(mpq_t *u, const exact_form *f, int64_t i, const exact_dyadic *state);
/* state[d*e], zeros at first, = the state after all tokens, in one chunk. */
attest_status exact_form_delta_last(exact_dyadic *state, const exact_form *f, attest_error *err);

/* The algorithms: u[n*e], z[n], which start as 0.  The delta rule's (exact_wy.c, exact_scan.c) leave z alone. */
typedef attest_status exact_form_run(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o,
                                     attest_error *err);
exact_form_run exact_form_wy, exact_form_delta_carried, exact_form_scan, exact_form_delta_scan;

#endif
