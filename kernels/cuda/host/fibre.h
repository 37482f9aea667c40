/* fibre.h - fibres of one thread of the system: a stack each, and a switch between two of them or one and their home.
 *
 * The sanitizers are told of every switch where the process runs under one (their functions are weak here): a fibre is
 * a thread of its own to ThreadSanitizer, and switching orders nothing; AddressSanitizer knows its stack.
 * x86-64 switches by hand; other machines by ucontext, which is some 50 times slower.
 */
#ifndef ATTEST_CUDA_HOST_FIBRE_H
#define ATTEST_CUDA_HOST_FIBRE_H

#include <stddef.h>

#ifndef __x86_64__
#include <ucontext.h>
#endif

/* The guard is the stack's lowest page; an odd number of pages: the numbers of the pages in use differ in every bit. */
enum { FIBRE_GUARD = 4096, FIBRE_STACK = 65 * FIBRE_GUARD };

/* What a side of a switch has to keep. */
typedef struct fibre_side {
#ifdef __x86_64__
    void *sp;
#else
    ucontext_t context;
#endif
    void *thread_shadow; /* ThreadSanitizer's */
    void *fake_stack;    /* AddressSanitizer's */
    const void *stack;
    size_t stack_size;
} fibre_side;

typedef void fibre_entry(void);

/* Stacks of `count` fibres for one launch at a time of the calling thread, NULL: no memory; they lie FIBRE_STACK apart.
 * Given back, they are kept for the thread's next launch, with what is written there, until the thread ends. */
char *fibre_stacks(size_t count);
void fibre_stacks_free(char *stacks);
/* For other fibres than before: to ThreadSanitizer they are new memory.  0: no memory. */
int fibre_stacks_renew(char *stacks, size_t count);

/* The thread that starts the others. */
void fibre_home(fibre_side *home);
/* A fibre on a stack of its own that begins in entry(), which never returns. */
void fibre_begin(fibre_side *fibre, char *stack, fibre_entry *entry);
/* After its last switch, or instead of it. */
void fibre_end(fibre_side *fibre);

/* home -> fibre, and back.  `last`: the fibre will not be resumed. */
void fibre_resume(fibre_side *home, fibre_side *fibre);
void fibre_leave(fibre_side *fibre, fibre_side *home, int last);
/* From one fibre to another, where no sanitizer watches switches: half of the way by home. */
void fibre_pass(fibre_side *from, fibre_side *to);
int fibre_switches_watched(void);
/* The first thing that entry() does. */
void fibre_entered(fibre_side *home);

/* What comes before fibre_release(at) comes before what follows a later fibre_acquire(at): ThreadSanitizer's order. */
void fibre_release(void *at);
void fibre_acquire(void *at);
/* 1 under ThreadSanitizer. */
int fibre_races_watched(void);
/* AddressSanitizer: [at, at+size) may be, or may not be accessed. */
void fibre_open_memory(void *at, size_t size);
void fibre_close_memory(void *at, size_t size);

#endif
