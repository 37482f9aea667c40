/* memory.c - GMP, MPFR and FLINT without memory: they cannot tell their caller, and would abort. */
#include "reference/engine/engine.h"
#include "reference/reference.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of each thread, because a handler gets no argument that could hold it. */
static _Thread_local char case_at_hand[ATTEST_LINE];

/* Given once, before there is a second thread. */
static void (*call_before_end)(void);

void attest_reference_case(const char *line) { snprintf(case_at_hand, sizeof case_at_hand, "%s", line ? line : ""); }

/* One line, by the first thread that comes here, and the end: nothing here needs memory. */
static void end(int code, const char *what) __attribute__((noreturn));
static void end(int code, const char *what)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    char text[ATTEST_LINE + 128];
    while (atomic_flag_test_and_set(&taken))
        pause();
    const int length = snprintf(text, sizeof text, "attest: %s%s%s\n", what, *case_at_hand ? ": case " : "",
                                case_at_hand);
    if (call_before_end)
        call_before_end();
    fflush(stdout);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        code = code == 70 ? 70 : 3;
    _exit(code);
}

static void *given(void *pointer, size_t size)
{
    char what[80];
    if (pointer || size == 0)
        return pointer;
    snprintf(what, sizeof what, "no memory for %zu bytes of the reference", size);
    end(3, what);
}

static void *take(size_t size) { return given(malloc(size), size); }
static void *take_zeros(size_t count, size_t size) { return given(calloc(count, size), count * size); }
static void *resize(void *pointer, size_t size) { return given(realloc(pointer, size), size); }
static void *resize_known(void *pointer, size_t old, size_t size)
{
    (void)old;
    return resize(pointer, size);
}
static void give_back(void *pointer, size_t size)
{
    (void)size;
    free(pointer);
}
static void stopped(void) __attribute__((noreturn));
static void stopped(void) { end(70, "FLINT ended this run"); }

void attest_reference_begin(void (*before_end)(void))
{
    call_before_end = before_end;
    mp_set_memory_functions(take, resize_known, give_back);
    __flint_set_memory_functions(take, take_zeros, resize, free);
    flint_set_abort(stopped);
}
