/* What the lanes of a warp do together. */
#include "machine_private.h"

/* Lanes that have come and are in `mask` came for the same: as the lane before this one found of its own, or each is
 * looked at. */
static void check_company(machine_warp *w, uint32_t mask, unsigned lane, cuda_host_place where)
{
    const uint32_t me = 1u << lane;
    const int same = w->company_mask == mask && w->company_what == w->what[lane];
    if (!same || (w->come & mask & ~(w->company | me)) != 0)
        for (unsigned k = 0; k < CUDA_HOST_LANES; k++)
            if ((w->come & mask) >> k & 1 &&
                (w->mask[k] != mask || (w->what[k] != w->what[lane] && strcmp(w->what[k], w->what[lane]) != 0)))
                cuda_host_fault(where, "lanes %u and %u of a warp meet at %s and %s, under masks %08x and %08x", lane,
                                k, w->what[lane], w->what[k], mask, w->mask[k]);
    w->company = w->come & mask;
    w->company_mask = mask;
    w->company_what = w->what[lane];
}

/* Whether all have come that `mask` names and that have not ended. */
static int all_here(const machine_warp *w, uint32_t mask) { return (mask & w->alive & ~w->come) == 0; }

static void complete(machine *m, machine_warp *w, uint32_t mask, cuda_host_combine *combine, cuda_host_place where)
{
    const unsigned number = m->now->here.rank / CUDA_HOST_LANES, me = m->now->here.rank;
    const int watched = fibre_races_watched();
    for (unsigned k = 0; watched && k < CUDA_HOST_LANES; k++)
        if (mask >> k & 1)
            fibre_acquire(&m->shared->sync.warp[number].arrive[k]);
    const char *wrong = combine(w->in, w->out, mask);
    if (wrong)
        cuda_host_fault(where, "%s", wrong);
    w->come &= ~mask;
    w->company &= ~mask;
    for (unsigned k = 0; k < CUDA_HOST_LANES; k++) {
        if (!(mask >> k & 1))
            continue;
        if (watched)
            fibre_release(&m->shared->sync.warp[number].leave[k]);
        if (number * CUDA_HOST_LANES + k != me)
            m->thread[number * CUDA_HOST_LANES + k].state = THREAD_READY;
    }
}

void cuda_host_meet(uint32_t mask, const char *what, cuda_host_combine *combine, const void *in, size_t in_size,
                    void *out, size_t out_size, cuda_host_place where)
{
    machine *m = machine_now();
    const unsigned number = m->now->here.rank / CUDA_HOST_LANES, lane = m->now->here.rank % CUDA_HOST_LANES;
    machine_warp *w = &m->warp[number];
    if (!(mask >> lane & 1))
        cuda_host_fault(where, "%s: lane %u is not in its own mask %08x", what, lane, mask);
    machine_move(w->in[lane].byte, in, in_size);
    w->mask[lane] = mask;
    w->what[lane] = what;
    w->come |= 1u << lane;
    check_company(w, mask, lane, where);
    fibre_release(&m->shared->sync.warp[number].arrive[lane]);
    while (w->come >> lane & 1) /* until this lane or another of them completes it */
        if (all_here(w, mask))
            complete(m, w, mask & w->alive, combine, where);
        else
            machine_wait(m, THREAD_IN_WARP, where);
    fibre_acquire(&m->shared->sync.warp[number].leave[lane]);
    machine_move(out, w->out[lane].byte, out_size);
}

void machine_left_warp(machine *m)
{
    const unsigned rank = m->now->here.rank, first = rank / CUDA_HOST_LANES * CUDA_HOST_LANES;
    machine_warp *w = &m->warp[rank / CUDA_HOST_LANES];
    w->alive &= ~(1u << rank % CUDA_HOST_LANES);
    for (unsigned k = 0; k < CUDA_HOST_LANES; k++)
        if (w->come >> k & 1 && all_here(w, w->mask[k]))
            m->thread[first + k].state = THREAD_READY;
}

const char *cuda_host_nothing(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask)
{
    (void)in, (void)out, (void)mask;
    return NULL;
}

const char *cuda_host_shuffle(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask)
{
    for (unsigned k = 0; k < CUDA_HOST_LANES; k++) {
        cuda_host_shuffled mine, other;
        if (!(mask >> k & 1))
            continue;
        memcpy(&mine, in[k].byte, sizeof mine);
        if (!(mask >> mine.from & 1))
            return "a shuffle from a lane that takes no part in it";
        memcpy(&other, in[mine.from].byte, sizeof other);
        memcpy(out[k].byte, &other.value, sizeof other.value);
    }
    return NULL;
}

const char *cuda_host_ballot(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask)
{
    uint32_t votes = 0;
    for (unsigned k = 0; k < CUDA_HOST_LANES; k++) {
        uint32_t predicate;
        memcpy(&predicate, in[k].byte, sizeof predicate);
        votes |= (uint32_t)(mask >> k & 1 && predicate) << k;
    }
    for (unsigned k = 0; k < CUDA_HOST_LANES; k++)
        if (mask >> k & 1) /* another group's lanes may not have taken theirs yet */
            memcpy(out[k].byte, &votes, sizeof votes);
    return NULL;
}
