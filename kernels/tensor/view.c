/* view.c - see view.h. */
#include "kernels/tensor/view.h"

#include <string.h>

attest_tensors attest_view_tensors(const attest_view *view)
{
    return (attest_tensors){ .struct_size = (uint32_t)sizeof(attest_tensors),
                             .role_count = ATTEST_ROLE_COUNT,
                             .state_slots = ATTEST_STATE_SLOTS,
                             .role = view->role,
                             .h0 = view->h0,
                             .z0 = view->z0,
                             .ht = view->ht,
                             .zt = view->zt,
                             .grad = view->grad,
                             .grad_h0 = view->none,
                             .grad_z0 = view->none,
                             .grad_ht = view->none,
                             .grad_zt = view->none };
}

void attest_bundle_view(const attest_bundle *bundle, attest_view *view)
{
    memset(view, 0, sizeof *view);
    for (uint32_t r = 0; r < ATTEST_TENSOR_ROLES; r++)
        view->role[r] = attest_bundle_role(bundle, (attest_role)r);
    for (uint32_t n = 0; n < ATTEST_STATE_SLOTS; n++) {
        view->h0[n] = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_H0, n });
        view->z0[n] = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_Z0, n });
        view->ht[n] = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_HT, n });
        view->zt[n] = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_ZT, n });
    }
}

uint32_t attest_view_wanted(const attest_view *view)
{
    static const struct {
        uint32_t role, bit;
    } rows[] = { { ATTEST_O, ATTEST_GIVES_O },
                 { ATTEST_U, ATTEST_GIVES_U },
                 { ATTEST_Z, ATTEST_GIVES_Z },
                 { ATTEST_LSE, ATTEST_GIVES_LSE } };
    uint32_t wanted = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        wanted |= view->role[rows[i].role] ? rows[i].bit : 0;
    for (size_t n = 0; n < ATTEST_STATE_SLOTS; n++)
        wanted |= view->ht[n] || view->zt[n] ? (uint32_t)ATTEST_GIVES_STATE : 0;
    return wanted;
}
