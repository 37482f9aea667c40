#include "machine_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_VALUE = 1, ERROR_MEMORY = 2, ERROR_CONFIGURATION = 9, ERROR_LAUNCH = 719 }; /* of cudaError_t */

/* Read at each threadIdx.  Not of model initial-exec: all that a library keeps for a thread would then be in the bytes
 * that a process leaves for such libraries, and they suffice for two. */
static __thread machine *running;
static __thread char last_line[CUDA_HOST_LINE];

machine *machine_now(void) { return running; }
const cuda_host_here *cuda_host_now(void) { return &running->now->here; }
const char *cuda_host_line(void) { return last_line; }

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void say(machine *m, cuda_host_place where, const char *format, va_list list)
{
    char text[CUDA_HOST_LINE / 2];
    if (m->line[0])
        return;
    vsnprintf(text, sizeof text, format, list);
    const cuda_host_here *here = &m->thread->here;
    snprintf(m->line, sizeof m->line, "%s:%d: %s (block %u,%u,%u)", where.file ? file_name(where.file) : "launch",
             where.line, text, here->block.x, here->block.y, here->block.z);
}

void machine_says(machine *m, cuda_host_place where, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(m, where, format, list);
    va_end(list);
}

void cuda_host_fault(cuda_host_place where, const char *format, ...)
{
    machine *m = running;
    va_list list;
    va_start(list, format);
    say(m, where, format, list);
    va_end(list);
    m->now->state = THREAD_DONE;
    fibre_leave(&m->now->fibre, &m->home, 1);
    abort(); /* nobody resumes it */
}

void machine_needs(const machine *m, int target, const char *what, cuda_host_place where)
{
    if (m->target < target)
        cuda_host_fault(where, "%s needs sm_%d; ATTEST_CUDA_HOST_GPU names an older GPU", what, target);
}

/* ---- threads ------------------------------------------------------------------------------------------------- */
/* The next thread of this turn that can run, as the one that does; NULL: none. */
static machine_thread *next_ready(machine *m)
{
    while (m->next < m->turns && !m->line[0]) {
        machine_thread *t = &m->thread[m->turn[m->next++]];
        if (t->state == THREAD_READY)
            return m->now = t;
    }
    return NULL;
}

void machine_wait(machine *m, thread_state state, cuda_host_place where)
{
    machine_thread *t = m->now;
    t->state = state;
    t->where = where;
    machine_thread *next = m->passes ? next_ready(m) : NULL;
    if (next)
        fibre_pass(&t->fibre, &next->fibre);
    else
        fibre_leave(&t->fibre, &m->home, 0);
}

static void thread_main(void)
{
    machine *m = running;
    fibre_entered(&m->home);
    m->body(m->context);
    machine_thread *t = m->now;
    if (t->copy_count > 0)
        cuda_host_fault(t->copy[0].where, "thread %u ends and never waited for this copy", t->here.rank);
    fibre_release(&m->done);
    t->state = THREAD_DONE;
    m->live--;
    machine_left_warp(m);
    fibre_leave(&t->fibre, &m->home, 1);
    abort(); /* nobody resumes it */
}

static void open_barrier(machine *m)
{
    m->at_barrier = 0;
    fibre_acquire(&m->shared->sync.arrive);
    fibre_release(&m->shared->sync.leave);
    for (unsigned i = 0; i < m->threads; i++)
        if (m->thread[i].state == THREAD_AT_BARRIER)
            m->thread[i].state = THREAD_READY;
}

void cuda_host_barrier(cuda_host_place where)
{
    machine *m = running;
    machine_sync *sync = &m->shared->sync;
    if (m->at_barrier > 0 && (m->barrier.line != where.line || strcmp(m->barrier.file, where.file) != 0))
        cuda_host_fault(where, "thread %u waits at this barrier, others at that of line %d of %s", m->now->here.rank,
                        m->barrier.line, file_name(m->barrier.file));
    m->barrier = where;
    fibre_release(&sync->arrive);
    if (++m->at_barrier >= m->live)
        open_barrier(m);
    else
        machine_wait(m, THREAD_AT_BARRIER, where);
    fibre_acquire(&sync->leave);
}

/* ---- a block ------------------------------------------------------------------------------------------------- */
static int run_ready(machine *m, const unsigned *rank, unsigned count)
{
    int moved = 0;
    m->turn = rank;
    m->turns = count;
    m->next = 0;
    for (machine_thread *t = next_ready(m); t; t = next_ready(m)) {
        fibre_resume(&m->home, &t->fibre);
        moved = 1;
    }
    return moved;
}

static int run_round(machine *m)
{
    int moved = 0;
    launch_order_round(&m->order, m->rank, m->threads);
    if (!m->order.greedy)
        return run_ready(m, m->rank, m->threads);
    for (unsigned first = 0; first < m->threads; first += CUDA_HOST_LANES) {
        const unsigned some = m->threads - first < CUDA_HOST_LANES ? m->threads - first : CUDA_HOST_LANES;
        while (run_ready(m, m->rank + first, some))
            moved = 1;
    }
    return moved;
}

static void tell_stuck(machine *m)
{
    static const char *const waits[] = { [THREAD_AT_BARRIER] = "a barrier", [THREAD_IN_WARP] = "its warp" };
    for (unsigned i = 0; i < m->threads; i++) {
        const machine_thread *t = &m->thread[i];
        if (t->state == THREAD_AT_BARRIER || t->state == THREAD_IN_WARP) {
            machine_says(m, t->where, "deadlock: thread %u of %u waits for %s for ever; %u wait at a barrier, %u ended",
                         i, m->threads, waits[t->state], m->at_barrier, m->threads - m->live);
            return;
        }
    }
}

static cuda_host_index index_of(uint64_t i, cuda_host_index size)
{
    const cuda_host_index index = { (unsigned)(i % size.x), (unsigned)(i / size.x % size.y),
                                    (unsigned)(i / size.x / size.y) };
    return index;
}

static void begin_block(machine *m, cuda_host_index block)
{
    m->live = m->threads;
    m->at_barrier = 0;
    for (unsigned i = 0; i < m->threads; i++) {
        machine_thread *t = &m->thread[i];
        t->here.block = block;
        t->here.thread = index_of(i, t->here.size);
        t->here.rank = i;
        t->state = THREAD_READY;
        t->copy_count = t->groups = 0;
        fibre_begin(&t->fibre, m->stacks + (size_t)i * FIBRE_STACK, thread_main);
    }
    for (unsigned i = 0; i < (m->threads + CUDA_HOST_LANES - 1) / CUDA_HOST_LANES; i++) {
        m->warp[i].come = m->warp[i].company = m->warp[i].company_mask = 0;
        m->warp[i].company_what = NULL;
        const unsigned lanes = m->threads - i * CUDA_HOST_LANES;
        m->warp[i].alive = lanes < CUDA_HOST_LANES ? (1u << lanes) - 1 : UINT32_MAX;
    }
}

/* Threads that ended no longer count at a barrier. */
static int barrier_is_due(const machine *m) { return m->at_barrier > 0 && m->at_barrier >= m->live; }

static int run_block(machine *m, cuda_host_index block)
{
    const cuda_host_place nowhere = { NULL, 0 };
    if (!machine_shared_begin(m) || !fibre_stacks_renew(m->stacks, m->threads))
        return ERROR_MEMORY;
    begin_block(m, block);
    launch_order_first(&m->order, m->rank, m->threads);
    while (m->live > 0 && !m->line[0]) {
        const int moved = run_round(m);
        if (m->line[0])
            break;
        if (barrier_is_due(m))
            open_barrier(m);
        else if (!moved)
            tell_stuck(m);
    }
    for (unsigned i = 0; i < m->threads; i++)
        fibre_end(&m->thread[i].fibre);
    if (!machine_shared_end(m) && !m->line[0])
        machine_says(m, nowhere, "shared memory was written outside of its arrays");
    return m->line[0] ? ERROR_LAUNCH : 0;
}

/* ---- a launch ------------------------------------------------------------------------------------------------ */
static const char exact[] = "exact";

const char *cuda_host_gpu(void)
{
    const char *gpu = getenv("ATTEST_CUDA_HOST_GPU");
    const mma_core *core = mma_core_of(gpu ? gpu : "h100");
    return core ? core->gpu : gpu && strcmp(gpu, exact) == 0 ? exact : NULL;
}

/* "sm_70" as 70; exact sums are no GPU's: a young one. */
static int target_of(const mma_core *core) { return core ? atoi(core->target + strlen("sm_")) : INT32_MAX; }

/* CUDA C++ programming guide, technical specifications per compute capability. */
int cuda_host_shared_most(void)
{
    static const struct {
        int target, kib;
    } all[] = { { 70, 96 }, { 80, 163 }, { 86, 99 }, { 89, 99 } };
    const char *gpu = cuda_host_gpu();
    const int target = target_of(gpu ? mma_core_of(gpu) : NULL);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].target == target)
            return all[i].kib * 1024;
    return CUDA_HOST_SHARED_MOST;
}

static int within(cuda_host_index i, unsigned x, unsigned y, unsigned z)
{
    return i.x > 0 && i.x <= x && i.y > 0 && i.y <= y && i.z > 0 && i.z <= z;
}

/* 0 or an error, and the reason. */
static int refused(launch_order *order, cuda_host_index grid, cuda_host_index size, const char **reason)
{
    if (!within(size, 1024, 1024, 64) || size.x * size.y * size.z > CUDA_HOST_THREADS_MOST)
        *reason = "a block has 1 to 1024 threads, and at most 64 in z";
    else if (!within(grid, INT32_MAX, 65535, 65535) || (uint64_t)grid.x * grid.y * grid.z > INT32_MAX)
        *reason = "a grid has 1 to 2^31-1 blocks, and at most 65535 in y and in z";
    else if (!launch_order_read(order, getenv("ATTEST_CUDA_HOST_ORDER")))
        *reason = "ATTEST_CUDA_HOST_ORDER: forward, reverse, greedy, greedy-reverse or random:SEED";
    else if (!cuda_host_gpu())
        *reason = "ATTEST_CUDA_HOST_GPU: v100, a100, a2, ada, l40s, h100, h200, b200 or exact";
    return *reason ? ERROR_CONFIGURATION : 0;
}

/* The same of dynamic shared memory. */
static int refused_memory(machine *m, size_t dynamic, int allowed, const char **reason)
{
    m->dynamic = dynamic;
    m->asked = allowed < 0 ? dynamic : (size_t)allowed;
    m->shared_most = allowed < 0 ? CUDA_HOST_SHARED_DEFAULT : (size_t)cuda_host_shared_most();
    if (dynamic <= m->asked && m->asked <= m->shared_most)
        return 0;
    *reason = "more dynamic shared memory than cudaFuncSetAttribute() allowed, or than there is";
    return ERROR_VALUE;
}

static int prepare(machine *m, cuda_host_index grid, cuda_host_index size)
{
    const mma_core *core = mma_core_of(cuda_host_gpu());
    m->threads = size.x * size.y * size.z;
    m->thread = calloc(m->threads, sizeof *m->thread);
    m->warp = aligned_alloc(64, (m->threads / CUDA_HOST_LANES + 1) * ((sizeof *m->warp + 63) / 64 * 64));
    m->rank = calloc(m->threads, sizeof *m->rank);
    m->stacks = fibre_stacks(m->threads);
    if (!m->thread || !m->warp || !m->rank || !m->stacks)
        return 0;
    m->exact = !core;
    m->target = target_of(core);
    if (core) {
        m->bf16 = mma_rule_of(core, MMA_BF16, MMA_TO_F32);
        m->f16 = mma_rule_of(core, MMA_F16, MMA_TO_F32);
    }
    for (unsigned i = 0; i < m->threads; i++) {
        m->thread[i].here.grid = grid;
        m->thread[i].here.size = size;
    }
    fibre_home(&m->home);
    m->passes = !fibre_switches_watched();
    return 1;
}

static void clear(machine *m)
{
    for (unsigned i = 0; i < m->threads && m->thread; i++)
        free(m->thread[i].copy);
    machine_shared_free(m);
    fibre_stacks_free(m->stacks);
    free(m->rank);
    free(m->warp);
    free(m->thread);
}

static int run_blocks(machine *m, cuda_host_index grid)
{
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    int error = 0;
    for (uint64_t i = 0; i < blocks && error == 0; i++)
        error = run_block(m, index_of(launch_order_block(&m->order, i, blocks), grid));
    fibre_acquire(&m->done);
    return error;
}

/* The machine of a launch, or its error. */
static int configure(machine *m, cuda_host_index grid, cuda_host_index size, size_t dynamic, int allowed)
{
    const char *reason = NULL;
    memset(m, 0, sizeof *m);
    int error = refused(&m->order, grid, size, &reason);
    if (!error)
        error = refused_memory(m, dynamic, allowed, &reason);
    if (error)
        snprintf(last_line, sizeof last_line, "%s", reason);
    return error;
}

int cuda_host_configure(cuda_host_index grid, cuda_host_index size, size_t dynamic, int allowed)
{
    machine m;
    return configure(&m, grid, size, dynamic, allowed);
}

int cuda_host_launch(cuda_host_index grid, cuda_host_index size, size_t dynamic, int allowed,
                     void (*body)(void *context), void *context)
{
    machine m;
    const int wrong = configure(&m, grid, size, dynamic, allowed);
    if (wrong)
        return wrong;
    m.body = body;
    m.context = context;
    machine *outer = running;
    int error = ERROR_MEMORY;
    running = &m;
    if (prepare(&m, grid, size))
        error = run_blocks(&m, grid);
    running = outer;
    if (error != 0)
        snprintf(last_line, sizeof last_line, "%s", m.line[0] ? m.line : "out of memory");
    clear(&m);
    return error;
}
