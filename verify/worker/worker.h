/* worker.h - a kernel runs in a process of its own; this is the parent's side and the shared layout.
 *
 * Answers what a run of a kernel wrote and how it ended. Judges nothing; the worker itself links kernels/ only.
 *
 * attest-worker (kernels, ABI, .npy only) is started once per kernel of a library, when it is first asked, and served
 * over a socket pair; kernels of a device share one.  So what a kernel leaves behind, threads or processes, is never
 * another's.  Tensors travel in a memfd whose size nobody can change.  Each tensor has a segment of it
 * (worker_layout.h): whole pages, with canary bytes around the data.  The data is aligned to 64 bytes, or one element
 * off (worker_disguise.h).  It lies against the end of its pages in the first run and against their start in the
 * second.  The worker maps inputs read-only, outputs and workspace read-write, with PROT_NONE pages on both sides of
 * each; what is written to inputs all the same is seen.  Outputs are filled with a NaN pattern of their own before
 * run() (or, in the first run of some cases, with ordinary numbers), another one for the second run, so an element that
 * was never written is seen.
 *
 * A worker that dies, is late, or uses more than half of the memory is killed with all that it started, and the next
 * case starts a new one: a crash costs one result.  So is one that leaves processes behind, after the run.
 *
 * What holds a worker back (worker_sandbox.h) is by $ATTEST_SANDBOX: auto (or unset), off, require.
 */
#ifndef ATTEST_WORKER_H
#define ATTEST_WORKER_H

#include <sys/types.h>

#include "kernels/library/library.h"
#include "verify/base/base.h"

/* What the worker says about one kernel of a library, copied out of its descriptor. */
typedef struct attest_kernel_facts {
    char name[64], version[32], source[96], summary[160], variants[256], build_flags[160], device[96];
    uint32_t form, device_type, flags, outputs, needs, alignment;
    uint32_t differs; /* 1: its numerics differ by problem, attest_worker_declared() asks */
    attest_numerics numerics;
    attest_limits limits; /* zeros: none */
    int has_claim;
    double claim_ulp;
    char claim_domain[160];
} attest_kernel_facts;

typedef enum attest_run_state {
    ATTEST_RUN_DONE = 0,        /* run() returned; status below */
    ATTEST_RUN_UNSUPPORTED = 1, /* supports() said no: `why` */
    ATTEST_RUN_CRASH = 2,       /* killed by a signal, or (signal 0) spoke on the worker's socket, used too much
                                   memory, or no worker could be started: `why` */
    ATTEST_RUN_TIMEOUT = 3,
    ATTEST_RUN_EXIT = 4 /* the process ended by itself */
} attest_run_state;

typedef struct attest_run_result {
    uint32_t state;       /* attest_run_state */
    attest_status status; /* of run(), when done */
    int signal, exit_code;
    int others; /* 1: what else runs may have ended it: by SIGKILL, because memory became short, or no worker could
                         be started again */
    unsigned reasons; /* ATTEST_REASON_* bits seen by the harness: wrote-outside, wrote-input,
                               read-outside, unwritten-output, nondeterministic, fp-state, kernel-error */
    char why[256];
    char fp_state[64];
    double seconds;      /* the least of its runs, by the worker's clock, which the kernel could bend; at most
                            seconds_seen of that run */
    double seconds_seen; /* of the last run, by our own clock, from the request to the answer */
    double seconds_cpu;  /* of the last run: the worker's processor time, by the system; 0: not known */
    int near;            /* by strides: no address space for the far ones, nearer ones were used */
    int unshifted;       /* run() refused data that begins off 64 bytes (ATTEST_UNSUPPORTED), and got it at 64 */
    int own_stream;      /* the last run was on a stream of its own (attest_memory.copy_later) */
    char disguise[96];   /* of the first run, in words (worker_disguise.h); "": none */
    uint32_t differs;    /* of many calls: the first one whose outputs had other bits than the first's; 0: none */
    uint32_t strays;     /* threads that the kernel's calls left in the worker */
    int left;            /* 1: it left processes behind, which were ended */
} attest_run_result;

typedef struct attest_worker attest_worker;

/* How many threads, each with a worker of each of so many libraries, the limit of open files has room for; 0: not for
 * one.  It is raised as far as it may be. */
long attest_worker_room(size_t libraries, unsigned long long *limit);
/* How many files one thread with these workers, and we, have open. */
size_t attest_worker_files(size_t libraries);

/* Starts a worker on `library` (NULL: the built-in kernels) and reads its kernel list.
 * ATTEST_BAD_INPUT: not a library, no attest_library_v2, other ABI version, NULL library (the message names
 * the file); a library that crashes or hangs while loading: ATTEST_IO naming the signal. */
attest_status attest_worker_start(attest_worker **worker, const char *library, double timeout_s, attest_error *err);

/* From now on the worker's file, the library or attest-worker, is what was seen: ATTEST_IO, here and where a process of
 * its is started, if it is not.  A worker that is not told expects the file as it was when the worker was made. */
attest_status attest_worker_expect(attest_worker *worker, const attest_file_seen *seen, attest_error *err);
void attest_worker_free(attest_worker *worker);

/* Path of the attest-worker executable that start() runs: $ATTEST_WORKER, else beside this executable.
 * malloc'd, the caller's; ATTEST_IO if it cannot be run. */
attest_status attest_worker_path(char **path, attest_error *err);
size_t attest_worker_kernel_count(const attest_worker *worker);
const attest_kernel_facts *attest_worker_kernel(const attest_worker *worker, size_t index);

/* Makes of what a kernel declares what it would be with these words (declare_text.h) besides, on every problem.
 * ATTEST_BAD_INPUT: as attest_declaration_add(); form, outputs or another layout of states, which the kernel alone can
 * say. */
attest_status attest_facts_assume(attest_kernel_facts *facts, const char *words, attest_error *err);
/* The same of kernel `index`: it is judged so from here on, and runs as before. */
attest_status attest_worker_assume(attest_worker *worker, size_t index, const char *words, attest_error *err);

/* Asks in the worker whether kernel `index` is run and judged on a problem: its limits, its supports(), and whether a
 * bound covers what it declares.  1, or 0 with why; below 0 with why when there is no answer, which is no refusal:
 * -1 (the worker dies, cannot be started; attest_worker_run() tells what kind of end that is), or ATTEST_SUPPORTS_LATE
 * (there was no answer in time). */
#define ATTEST_SUPPORTS_LATE (-2)
int attest_worker_supports(attest_worker *worker, size_t index, const attest_problem *p, char *why, size_t len);

/* What the bounds take for kernel `index` on a problem that it supports: its numerics, of this problem where they
 * differ, and flags.  ATTEST_UNSUPPORTED with the reason where no bound covers them; ATTEST_IO where the worker gives
 * no answer in time, or ends. */
attest_status attest_worker_declared(attest_worker *worker, size_t index, const attest_problem *p,
                                     attest_declared *declared, attest_error *err);

/* Runs kernel `index` twice on the inputs of `bundle` and fills its outputs (added to the bundle by the caller: o, and
 * u z lse ht zt as the kernel gives and the variant has).  The second run is compared bitwise (kernels with
 * ATTEST_DETERMINISTIC only); on cuda-host its threads go in another order, unless the caller's ATTEST_CUDA_HOST_ORDER
 * says one for all; on a device it is on a stream of its own, where the library has one, and up to twice more where
 * that gives NaN and the first did not.  A worker that SIGKILL ends, or that uses much while memory becomes short, is
 * asked once more, here and below: that comes from outside, as a rule. `timeout_s` is for each answer, without the
 * time in which the worker's first thread was ready to run and the machine ran others (at most 29 times as much more;
 * none of it where it has started processes).  Returns ATTEST_OK whatever the kernel did, also where its worker cannot
 * be started any more; an error status is a fault of ours.
 * A kernel of device cuda-host has ATTEST_CUDA_HOST_LONGER times as long, here and below: a GPU's threads, one after
 * the other, took 13 to 42 times as long as a plain loop (`attest bench kernels --device=cuda-host`, n=512). */
#define ATTEST_CUDA_HOST_LONGER 10
attest_status attest_worker_run(attest_worker *worker, size_t index, const attest_problem *p,
                                const attest_bundle *bundle, double timeout_s, attest_run_result *result,
                                attest_error *err);

/* Says that no other worker runs from now on: that memory becomes short does not end its kernels any more. */
void attest_worker_alone(attest_worker *worker);

/* The process in which kernel `index` runs, started if there is none: for a debugger. */
attest_status attest_worker_pid(pid_t *pid, attest_worker *worker, size_t index, attest_error *err);

/* Stops the process of kernel `index`, with all its threads, or lets it go on; nothing where there is none. */
void attest_worker_hold(attest_worker *worker, size_t index, int held);

/* The same, once, with the tensors laid out another way than in C order, where only who goes by the strides finds them
 * (worker_layout.h): heads inside tokens, gaps between rows, and on the host more than 2^32 elements between batch
 * entries.  Whatever is written to a gap is wrote-outside.  A kernel may refuse with ATTEST_UNSUPPORTED; one that
 * needs C order (ATTEST_NEEDS_C_ORDER) is not run and has refused. */
attest_status attest_worker_run_strided(attest_worker *worker, size_t index, const attest_problem *p,
                                        const attest_bundle *bundle, double timeout_s, attest_run_result *result,
                                        attest_error *err);

/* Runs kernel `index` `calls` times in one go, on the same memory and on outputs that hold the same before each call;
 * the bundle gets the outputs of the last.  Of a deterministic kernel the calls end at the first one that does not
 * repeat the bits of the first: result->differs.  `timeout_s` is for all of them. */
attest_status attest_worker_run_often(attest_worker *worker, size_t index, const attest_problem *p,
                                      const attest_bundle *bundle, uint32_t calls, double timeout_s,
                                      attest_run_result *result, attest_error *err);

/* Runs kernel `index` once, as in use: in the disguise that the inputs give (worker_disguise.h), with each tensor in
 * `pages` more pages than it needs, so that other calls have other addresses.  What is asked of a run that is timed:
 * result->seconds_seen. */
attest_status attest_worker_run_once(attest_worker *worker, size_t index, const attest_problem *p,
                                     const attest_bundle *bundle, uint32_t pages, double timeout_s,
                                     attest_run_result *result, attest_error *err);

/* Bytes of a kernel's standard output and error that are kept, from the first on. */
#define ATTEST_WORKER_OUTPUT (64u * 1024u)

/* What kernels have printed on standard output and error in their runs, as they wrote it, ATTEST_WORKER_OUTPUT bytes at
 * most: `length` bytes, borrowed; NULL: nothing. */
const char *attest_worker_printed(const attest_worker *worker, size_t *length);

/* What holds workers back here, in words, by a worker on the built-in kernels.  ATTEST_BAD_INPUT: $ATTEST_SANDBOX is
 * `require`, and this system lacks Landlock or seccomp; or it is no word of the list. */
attest_status attest_worker_sandbox(char *text, size_t len, attest_error *err);

/* $ATTEST_SANDBOX where it is not `auto`; NULL: it is. */
const char *attest_worker_sandbox_asked(void);

/* Ends the processes; the next question starts one in whose environment OMP_NUM_THREADS and its like (OpenBLAS, MKL,
 * BLIS, Rayon) say `threads`, and it gets 20 times as long; 0: what ours says. */
void attest_worker_renew(attest_worker *worker, unsigned threads);

/* Ends the processes; those that the next questions start have this variable in their environment.  `name` and `value`
 * together are at most 62 bytes. */
void attest_worker_set(attest_worker *worker, const char *name, const char *value);

#endif
