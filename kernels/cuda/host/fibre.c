#include "fibre.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Present in a process under that sanitizer only. */
#define WEAK __attribute__((weak))
WEAK void *__tsan_get_current_fiber(void);
WEAK void *__tsan_create_fiber(unsigned flags);
WEAK void __tsan_destroy_fiber(void *fiber);
WEAK void __tsan_switch_to_fiber(void *fiber, unsigned flags);
WEAK void __tsan_acquire(void *at);
WEAK void __tsan_release(void *at);
WEAK void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
WEAK void __sanitizer_finish_switch_fiber(void *saved, const void **bottom, size_t *size);
WEAK void __asan_poison_memory_region(void const volatile *at, size_t size);
WEAK void __asan_unpoison_memory_region(void const volatile *at, size_t size);

enum { ORDERS_NOTHING = 1 }; /* flag of __tsan_switch_to_fiber */

/* ---- the switch itself -------------------------------------------------------------------------------------- */
#ifdef __x86_64__
__attribute__((visibility("hidden"))) void cuda_host_switch(void **from, void *to);
/* Keeps the registers that a call preserves on the stack that is left, and takes those of the other. */
__asm__(".text\n"
        ".globl cuda_host_switch\n"
        ".hidden cuda_host_switch\n"
        ".type cuda_host_switch,@function\n"
        "cuda_host_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp,(%rdi)\n"
        "    movq %rsi,%rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size cuda_host_switch,.-cuda_host_switch\n");

static void move_to(fibre_side *from, fibre_side *to) { cuda_host_switch(&from->sp, to->sp); }

/* The top of a stack: each begins on a cache line of another number, so that the fibres of a block, which all stand at
 * the same depth, do not drive one another out of the same few lines of the cache. */
static char *stack_top(char *stack)
{
    enum { LINE = 64, LINES = FIBRE_GUARD / LINE };
    return stack + FIBRE_STACK - (uintptr_t)stack / FIBRE_GUARD % LINES * LINE;
}

static void first_frame(fibre_side *fibre, char *stack, fibre_entry *entry)
{
    enum { SAVED = 6 };
    uintptr_t *sp = (uintptr_t *)(void *)stack_top(stack) - 3; /* entry() finds sp as after a call: 8 modulo 16 */
    *--sp = (uintptr_t)entry;
    for (int i = 0; i < SAVED; i++)
        *--sp = 0;
    fibre->sp = sp;
}
#else
static void move_to(fibre_side *from, fibre_side *to) { swapcontext(&from->context, &to->context); }

static void first_frame(fibre_side *fibre, char *stack, fibre_entry *entry)
{
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = stack + FIBRE_GUARD;
    fibre->context.uc_stack.ss_size = FIBRE_STACK - FIBRE_GUARD;
    fibre->context.uc_link = NULL;
    makecontext(&fibre->context, entry, 0);
}
#endif

/* ---- fibres -------------------------------------------------------------------------------------------------- */
static char *map_stacks(char *at, size_t count)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    char *stacks = mmap(at, count * FIBRE_STACK, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stacks == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < count; i++)
        mprotect(stacks + i * FIBRE_STACK, FIBRE_GUARD, PROT_NONE);
    return stacks;
}

/* The stacks of a thread's earlier launches, for its next one: to map them, with a guard each, takes as long as a small
 * kernel.  They go when the thread ends. */
typedef struct kept_stacks {
    char *stacks; /* NULL: none */
    size_t count;
    int lent;
} kept_stacks;

static _Thread_local kept_stacks kept;
static pthread_key_t kept_key;
static pthread_once_t kept_once = PTHREAD_ONCE_INIT;

static void drop_kept(void *at)
{
    kept_stacks *k = (kept_stacks *)at;
    if (k->stacks)
        munmap(k->stacks, k->count * FIBRE_STACK);
    *k = (kept_stacks){ NULL, 0, 0 };
}

static void make_key(void) { pthread_key_create(&kept_key, drop_kept); }

char *fibre_stacks(size_t count)
{
    if (kept.lent) /* nobody launches twice at a time */
        return NULL;
    if (kept.count < count) {
        drop_kept(&kept);
        pthread_once(&kept_once, make_key);
        kept = (kept_stacks){ map_stacks(NULL, count), count, 0 };
        pthread_setspecific(kept_key, &kept);
    }
    kept.lent = kept.stacks != NULL;
    kept.count = kept.stacks ? kept.count : 0;
    return kept.stacks;
}

int fibre_stacks_renew(char *stacks, size_t count)
{
    return !fibre_races_watched() || map_stacks(stacks, count) != NULL;
}

void fibre_stacks_free(char *stacks)
{
    if (stacks)
        kept.lent = 0;
}

void fibre_home(fibre_side *home)
{
    memset(home, 0, sizeof *home);
    if (__tsan_get_current_fiber)
        home->thread_shadow = __tsan_get_current_fiber();
}

void fibre_begin(fibre_side *fibre, char *stack, fibre_entry *entry)
{
    memset(fibre, 0, sizeof *fibre);
    fibre->stack = stack + FIBRE_GUARD;
    fibre->stack_size = FIBRE_STACK - FIBRE_GUARD;
    fibre_open_memory(stack + FIBRE_GUARD, FIBRE_STACK - FIBRE_GUARD); /* frames that were here never returned */
    first_frame(fibre, stack, entry);
    if (__tsan_create_fiber)
        fibre->thread_shadow = __tsan_create_fiber(0);
}

void fibre_end(fibre_side *fibre)
{
    if (__tsan_destroy_fiber && fibre->thread_shadow)
        __tsan_destroy_fiber(fibre->thread_shadow);
    fibre->thread_shadow = NULL;
}

void fibre_resume(fibre_side *home, fibre_side *fibre)
{
    if (__tsan_switch_to_fiber)
        __tsan_switch_to_fiber(fibre->thread_shadow, ORDERS_NOTHING);
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&home->fake_stack, fibre->stack, fibre->stack_size);
    move_to(home, fibre);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(home->fake_stack, NULL, NULL);
}

void fibre_leave(fibre_side *fibre, fibre_side *home, int last)
{
    if (__tsan_switch_to_fiber)
        __tsan_switch_to_fiber(home->thread_shadow, ORDERS_NOTHING);
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(last ? NULL : &fibre->fake_stack, home->stack, home->stack_size);
    move_to(fibre, home);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(fibre->fake_stack, &home->stack, &home->stack_size);
}

int fibre_switches_watched(void) { return __tsan_switch_to_fiber || __sanitizer_start_switch_fiber; }

void fibre_pass(fibre_side *from, fibre_side *to) { move_to(from, to); }

void fibre_entered(fibre_side *home)
{
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(NULL, &home->stack, &home->stack_size);
}

/* ---- what sanitizers are told -------------------------------------------------------------------------------- */
void fibre_release(void *at)
{
    if (__tsan_release)
        __tsan_release(at);
}

void fibre_acquire(void *at)
{
    if (__tsan_acquire)
        __tsan_acquire(at);
}

int fibre_races_watched(void) { return __tsan_create_fiber != NULL; }

void fibre_open_memory(void *at, size_t size)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(at, size);
}

void fibre_close_memory(void *at, size_t size)
{
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(at, size);
}
