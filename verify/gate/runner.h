/* runner.h - one case on one kernel, from draw to result; shared by gate, audit, replay and study. */
#ifndef ATTEST_RUNNER_H
#define ATTEST_RUNNER_H

#include "reference/reference.h"
#include "reports/result.h"
#include "verify/compare/compare.h"
#include "verify/worker/worker.h"

#define ATTEST_MANY_KEYS 256

/* A case with its truth, made once and shared by all kernels that run it (one thread at a time).  The truths
 * borrow the problems: a prepared case stays where it was prepared. */
typedef struct attest_prepared {
    attest_case c;
    size_t index; /* its number in the suite that runs; 0 alone */
    char line[ATTEST_LINE];
    uint64_t hash;
    attest_bundle *inputs;
    attest_truth *truth;
    attest_truth *exp_truth;    /* softmax on the same inputs, for the truncation column; NULL if not Taylor */
    attest_problem exp_problem; /* what exp_truth borrows */
    /* The inputs with those changed that a draw keeps from most values: slope and gamma, formulas that a kernel could
     * know, are halved; sq and sk, logits of a softmax over heads, raised by 120, beyond float's exponential; from
     * ATTEST_MANY_KEYS keys on each v has one channel that is not 0, so that the loss of a key shows (of which keys:
     * attest_result.keys_seen; the others are asked again, among themselves).  And their truth; NULL where the case has
     * none of them. */
    attest_bundle *altered;
    attest_truth *altered_truth;
    /* The case among others, without a truth (attest_embed() of altered.h): made when a kernel is first asked; NULL
     * before, and without inputs where the case is not asked so. */
    struct attest_prepared *larger;
    attest_memo *memo; /* NULL, or what was judged of this case so far */
} attest_prepared;

/* Draws the inputs and prepares the truth.  ATTEST_BAD_INPUT: a family or variant not served.  Cases with
 * hash mod 64 = 0 are cross-examined by the witness: a disagreement is ATTEST_INTERNAL. */
attest_status attest_prepare(attest_prepared *prepared, const attest_case *c, attest_error *err);

/* The case with the inputs of `given` (taken over, freed on failure too; NULL: none) and the rest drawn, its truth, and
 * nothing that is asked beyond its bounds: no truncation column, nothing altered, no witness. */
attest_status attest_prepare_inputs(attest_prepared *prepared, const attest_case *c, attest_bundle *given,
                                    attest_error *err);
void attest_prepared_clear(attest_prepared *prepared);

typedef struct attest_look attest_look;

/* A kernel of a worker; `library` NULL for the built-in ones, else the path as the user wrote it. */
typedef struct attest_subject {
    attest_worker *worker;
    size_t index;
    const attest_kernel_facts *facts; /* what is known of it; NULL: what the worker says */
    const char *library;
    char file_hash[20];
    const char *program;     /* argv[0], for the reproduction */
    const char *declare;     /* what it is taken to declare besides; NULL or "": nothing */
    double timeout;          /* --timeout, for the reproduction; 0: none to tell */
    const char *suite;       /* --suite, for a reproduction that is an audit; NULL: none to tell */
    const attest_look *look; /* NULL, or who also looks at its outputs */
} attest_subject;

/* Sets `index` to the kernel of this name in the subject's worker; NULL: its only one.  ATTEST_BAD_INPUT says which
 * library has no such kernel, or attest_device_settings() of it. */
attest_status attest_find_kernel(attest_subject *subject, const char *name, attest_error *err);

/* attest_file_hash() of the file whose bytes are the kernel: the plugin, or attest-worker (library NULL); of a program
 * attest_command_hash().  ATTEST_NO_MEMORY, or ATTEST_IO: no attest-worker. */
attest_status attest_library_hash(char text[20], const char *library, attest_error *err);

/* Name in results and reproductions: NAME, or LIBRARY:NAME. */
void attest_subject_name(char *text, size_t len, const attest_subject *subject);

/* Appends ` --declare TEXT`, ` --timeout S` and ` --sandbox=MODE` where they are not the defaults: what a command that
 * finds a result again needs.  `command` holds its start; returns its length, at most room - 1. */
size_t attest_subject_options(char *command, size_t room, const attest_subject *subject);

/* The name of this kernel fits into a result whole; with NULL: some kernel's of this library may.  ATTEST_BAD_INPUT
 * where it does not: names that are cut would be one name. */
attest_status attest_name_fits(const char *library, const char *kernel, attest_error *err);

/* What a result becomes whose run ended with an error status instead of an answer, once it has been tried twice: a
 * worker that cannot be had (ATTEST_IO) is a crash; what is our own fault (ATTEST_INTERNAL) stays an error, 0; anything
 * else (memory, say) leaves the case undecided.  1: the verdict stands, with the message in `why`. */
int attest_result_settle(attest_result *result, attest_status status, const attest_error *err);

/* 1 if a signal asks for the end (stop.h) and the result is of a worker that did not answer: that may be
 * because nobody waited for it, so the result is not kept, and its pair counts as not run. */
int attest_result_of_stop(const attest_result *result);

/* Fills what the problem line says: the line, its hash, and the fields that it resolves to. */
void attest_result_describe(attest_result *result, const attest_case *c, const char *line, uint64_t hash);

/* Fills every field that does not depend on the outcome: the kernel, and of a case (NULL: none) its line and
 * reproduction. */
void attest_result_identify(attest_result *result, const attest_subject *subject, const attest_prepared *prepared);

/* A bundle for one run of the kernel: its own copy of the inputs, and the outputs that it gives, the variant has and
 * compare will judge. */
attest_status attest_case_bundle(attest_bundle **bundle, const attest_prepared *prepared,
                                 const attest_kernel_facts *kernel, attest_error *err);

/* Who judges a run that ended well in place of compare.h and case_checks.h: sets result->verdict. */
typedef struct attest_judge {
    uint32_t outputs; /* ATTEST_GIVES_*: the kernel is asked for no other output */
    attest_status (*judge)(void *context, attest_result *result, attest_prepared *prepared,
                           const attest_bundle *outputs, attest_error *err);
    void *context;
} attest_judge;

/* Who looks at the outputs of the run that is judged: sets fields of the result that are in no verdict.  Many threads
 * call it. */
struct attest_look {
    attest_status (*look)(const void *context, attest_result *result, const attest_kernel_facts *kernel,
                          const attest_prepared *prepared, const attest_bundle *outputs, attest_error *err);
    const void *context;
};

/* 1 if the run did not come back: verdict crash or timeout, in `why` what was run (`what`, or "") and how it ended. */
int attest_result_death(attest_result *result, const attest_run_result *run, const char *what);

/* What the harness saw of a run, on top of the numbers: reasons, why, verdict of a run that did not end well; with
 * `judge` (or NULL) reasons alone are no verdict. */
void attest_result_end(attest_result *result, const attest_run_result *run, uint32_t device, const attest_judge *judge);

/* A skip that says so: the kernel served the case when it was asked first, and then refused it (`why`, which may be the
 * result's own). */
void attest_result_taken_back(attest_result *result, const char *why);

/* Bytes that one case takes while it is judged, about and rather from above: 64 MiB; its inputs and o, u, z, lse twelve
 * times (they, those with altered values and those with other values a key, and what a worker sees of each); 2,560
 * bytes a key for one row of each of their truths; and 256 bytes a key of each judged row of three truths, which keep
 * at most 512 MiB each. Measured, softmax, d=64: n=1 m=65536 602 MB (here 688), n=64 m=65536 1,519 (2,249), n=1
 * m=262144 1,329 (2,550). ATTEST_BAD_INPUT: the tensors alone do not fit into this machine. */
attest_status attest_case_memory(uint64_t *bytes, const attest_problem *p, attest_error *err);

/* Runs and judges, then asks case_checks.h; with `judge` (or NULL) it alone decides, and what else the harness saw is
 * in result->reasons only.  *supported = 0: the kernel does not serve the case (verdict skip, with the reason).  A
 * crash, timeout or fault is a verdict; an error status is a fault of ours. */
attest_status attest_run_case(attest_result *result, int *supported, attest_prepared *prepared,
                              const attest_subject *subject, const attest_judge *judge, double timeout_s,
                              attest_error *err);

/* What the gate asks of a few cases only, after all have run (repeat_checks.h): many calls, if the case is tiny, and
 * calls under load, if it is small.  Of a result that is not good nothing. */
attest_status attest_repeat_case(attest_result *result, attest_prepared *prepared, const attest_subject *subject,
                                 double timeout_s, attest_error *err);

#endif
