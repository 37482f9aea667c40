/* witness_delta.c - update=delta and efla by the witness: the recurrence over tokens as it is printed.
 *
 *     S' = decay(S);  S = S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t) S')
 */
#include "reference/witness/witness.h"

typedef struct delta_work {
    const wit_case *w;
    int64_t b, g;
    wit *s, *phi; /* S [dim*e] and phi(k_t) [dim] */
    wit strength, gin, x, t;
} delta_work;

/* S' */
static void decay_state(delta_work *k, int64_t token)
{
    const int64_t e = k->w->p->e;
    for (int64_t c = 0; c < wit_dim(k->w->p); c++) {
        wit_decay(&k->t, k->w, k->b, k->g, c, token, token);
        for (int64_t column = 0; column < e; column++)
            wit_mul(&k->s[c * e + column], &k->s[c * e + column], &k->t);
    }
}

/* b_t; with efla (1-e^(-b_t r))/r, r = norm2(phi(k_t))^2, b_t itself if r = 0 */
static void write_strength(delta_work *k, int64_t token)
{
    const wit_case *w = k->w;
    wit_set_double(&k->strength, attest_load(w->strength, attest_offset(w->strength, k->b, k->g, token, 0)));
    if (w->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_EFLA)
        return;
    wit_set_ui(&k->x, 0);
    for (int64_t c = 0; c < wit_dim(w->p); c++) {
        wit_mul(&k->t, &k->phi[c], &k->phi[c]);
        wit_add(&k->x, &k->x, &k->t);
    }
    if (wit_is_zero(&k->x))
        return;
    wit_set_ui(&k->t, 0);
    wit_mul(&k->strength, &k->strength, &k->x);
    wit_sub(&k->strength, &k->t, &k->strength);
    wit_expm1(&k->strength, &k->strength);
    wit_sub(&k->strength, &k->t, &k->strength);
    wit_div(&k->strength, &k->strength, &k->x);
}

/* One column: S += phi^T b (gin v - phi S'), S holding S'. */
static void write_column(delta_work *k, int64_t token, int64_t column)
{
    const wit_case *w = k->w;
    const int64_t e = w->p->e;
    wit_set_double(&k->x, wit_stored(w, w->v, k->b, k->g, token, column));
    wit_mul(&k->x, &k->x, &k->gin);
    for (int64_t c = 0; c < wit_dim(w->p); c++) {
        wit_mul(&k->t, &k->phi[c], &k->s[c * e + column]);
        wit_sub(&k->x, &k->x, &k->t);
    }
    wit_mul(&k->x, &k->x, &k->strength);
    for (int64_t c = 0; c < wit_dim(w->p); c++) {
        wit_mul(&k->t, &k->phi[c], &k->x);
        wit_add(&k->s[c * e + column], &k->s[c * e + column], &k->t);
    }
}

/* h0.1, or 0 */
static void start(delta_work *k)
{
    const wit_case *w = k->w;
    const int64_t e = w->p->e;
    for (int64_t c = 0; c < wit_dim(w->p); c++)
        for (int64_t column = 0; column < e; column++) {
            wit_set_ui(&k->s[c * e + column], 0);
            if (!w->given_state)
                continue;
            const attest_tensor *h0 = wit_state_tensor(w, ATTEST_KIND_H0, 1);
            wit_set_double(&k->s[c * e + column], attest_load(h0, attest_offset(h0, k->b, k->g, c, column)));
        }
}

attest_status wit_delta_state(wit *s, const wit_case *w, int64_t b, int64_t g, int64_t i, attest_error *err)
{
    delta_work k = { .w = w, .b = b, .g = g, .s = s };
    wit *const single[] = { &k.strength, &k.gin, &k.x, &k.t };
    k.phi = wit_array(wit_dim(w->p), w->bits, err);
    if (!k.phi)
        return ATTEST_NO_MEMORY;
    for (size_t n = 0; n < sizeof single / sizeof single[0]; n++)
        wit_init(single[n], w->bits);
    start(&k);
    for (int64_t t = 0; t < w->p->m; t++) {
        if (!wit_sees(w, i, t))
            continue;
        if (t > 0 || w->given_state) /* nothing is there that the decay of token 0 could shrink */
            decay_state(&k, t);
        wit_feature(k.phi, w, w->k, b, g, t, t);
        write_strength(&k, t);
        wit_gin(&k.gin, w, b, g, t);
        for (int64_t column = 0; column < w->p->e; column++)
            write_column(&k, t, column);
    }
    for (size_t n = 0; n < sizeof single / sizeof single[0]; n++)
        wit_clear(single[n]);
    wit_array_free(k.phi, wit_dim(w->p));
    return ATTEST_OK;
}
