/* view.h - the tensors of one call of a kernel.
 */
#ifndef ATTEST_VIEW_H
#define ATTEST_VIEW_H

#include "kernels/tensor/tensor.h"

/* What stands behind the pointers of attest_tensors.  Plain pointers to tensors: a copy is a view of its own. */
typedef struct attest_view {
    const attest_tensor *role[ATTEST_ROLE_ROOM], *grad[ATTEST_ROLE_ROOM];
    const attest_tensor *h0[ATTEST_STATE_SLOTS], *z0[ATTEST_STATE_SLOTS];
    const attest_tensor *ht[ATTEST_STATE_SLOTS], *zt[ATTEST_STATE_SLOTS];
    const attest_tensor *none[ATTEST_STATE_SLOTS]; /* gradients of states: of no problem yet */
} attest_view;

/* All tensors of the bundle. */
void attest_bundle_view(const attest_bundle *bundle, attest_view *view);

/* The same as kernels get it: pointers into the view, which has to stay where it is. */
attest_tensors attest_view_tensors(const attest_view *view);

/* The set of outputs that are not NULL, as ATTEST_GIVES_ bits. */
uint32_t attest_view_wanted(const attest_view *view);

#endif
