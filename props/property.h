/* property.h - statements that must hold of a kernel for every input, and the table of them.
 *
 * A property is asked of a trial: a case (problem, inputs) that the kernel has run.  It runs the kernel again on inputs
 * changed in a known way, or looks at the outputs alone, and says what was broken, if anything.  Kernels and truth are
 * callbacks (attest_prop_host): props/ knows neither.
 *
 * Three kinds of comparison, told by `lemma` and `needs`:
 *     bits     the same bits are demanded: of kernels whose flags promise them (attest.h), else only the bounds
 *     exact    the values are known exactly by integer arithmetic, whatever the order of operations
 *     bounded  |difference| <= the sum of both runs' derived bounds, from the host
 */
#ifndef ATTEST_PROPERTY_H
#define ATTEST_PROPERTY_H

#include "props/draw/draw.h"

/* What a property has to know of the kernel: its declarations (attest.h). */
typedef struct attest_prop_kernel {
    uint32_t form, flags, outputs; /* attest_form, ATTEST_DETERMINISTIC.., ATTEST_GIVES_* */
    attest_numerics numerics;
    attest_limits limits; /* zeros: none; sizes that are drawn keep to them where that is possible */
} attest_prop_kernel;

/* How a run ended. */
typedef enum attest_prop_end {
    ATTEST_PROP_DONE = 0,
    ATTEST_PROP_REFUSED = 1, /* the kernel does not serve this problem, or these strides: says nothing */
    ATTEST_PROP_CRASH = 2,
    ATTEST_PROP_TIMEOUT = 3,
    ATTEST_PROP_ERROR = 4, /* it reports an error */
    ATTEST_PROP_FAULT = 5  /* it ended, but wrote outside, left an output unwritten, changed fp state, .. */
} attest_prop_end;

typedef struct attest_prop_run {
    uint32_t end; /* attest_prop_end */
    char why[256];
} attest_prop_run;

typedef struct attest_prop_host {
    void *context;
    /* 1 if the kernel serves the problem. */
    int (*supports)(void *context, const attest_problem *p);
    /* Runs the kernel on `inputs` (every input the problem uses, states full); *outputs is a new bundle, the caller's,
     * with those of `wanted` (ATTEST_GIVES_*) that kernel and variant have; packed states as the kernel keeps them.
     * `strided`: with other strides than C order.  However the kernel ends: ATTEST_OK and `run`; then *outputs is NULL
     * unless end is ATTEST_PROP_DONE or _FAULT. */
    attest_status (*run)(void *context, const attest_case *c, const attest_bundle *inputs, uint32_t wanted, int strided,
                         attest_bundle **outputs, attest_prop_run *run, attest_error *err);
    /* bound[attest_tensor_count(got)]: the derived bound of each element of output `id` (o u z lse, ht zt) for this
     * kernel on these inputs, upward; NaN where there is none (ill-posed, absent, a row that is empty or reads NaN).
     * ratio (or NULL): how many times its bound each element of `got` is from the truth, at least; NaN as there.
     * NULL: no reference at hand; properties that need bounds then say nothing. */
    attest_status (*bounds)(void *context, double *bound, double *ratio, const attest_case *c,
                            const attest_bundle *inputs, attest_tensor_id id, const attest_tensor *got,
                            attest_error *err);
} attest_prop_host;

typedef struct attest_property attest_property;

/* One case on one kernel.  Made by attest_trial_init(); properties read it and call attest_trial_*() (trial.h). */
typedef struct attest_trial {
    const attest_prop_host *host;
    attest_prop_kernel kernel;
    attest_case c;
    uint32_t number;                    /* of the case, in draws */
    const attest_bundle *inputs;        /* borrowed; states full */
    attest_bundle *outputs;             /* of the first run; owned */
    attest_prop_run first;              /* how it ended */
    const attest_property *violated;    /* NULL, or whose violation is planted into every run */
    double *bound[ATTEST_TENSOR_ROLES]; /* trial.c: of the first run's o u z lse; made on demand, owned */
} attest_trial;

/* What a property found of a trial. */
typedef struct attest_finding {
    int64_t compared; /* elements; 0: the property says nothing of this case */
    int broken;
    uint32_t end;   /* attest_prop_end of a later run that did not end well; then broken = 1: attest_finding_ended() */
    double ratio;   /* largest |difference|/tolerance; infinite where bits differ that must not; 0 if all agree */
    char what[256]; /* the first (largest) broken place: element, both values as hex floats, tolerance */
} attest_finding;

/* 1: the kernel died or hung in a later run.  That is its own failure, whatever was asked, and breaks no property. */
static inline int attest_finding_ended(const attest_finding *found)
{
    return found->broken && (found->end == ATTEST_PROP_CRASH || found->end == ATTEST_PROP_TIMEOUT);
}

/* What a property takes from the reference. */
typedef enum attest_prop_needs {
    ATTEST_NEEDS_NOTHING = 0, /* outputs against outputs, or against integers */
    ATTEST_NEEDS_BOUNDS = 1   /* always the host's bounds as its tolerance */
} attest_prop_needs;

struct attest_property {
    const char *name;      /* [a-z-]+, unique */
    const char *statement; /* one line: what must hold */
    const char *variants;  /* one line: of which variants, and why not of the others */
    const char *lemma;     /* `bits`, `exact`, or the lemmas of the tolerance (reference/derivations.md) */
    uint32_t needs;        /* attest_prop_needs */
    /* 1 if the statement is about this problem and this kernel. */
    int (*applies)(const attest_problem *p, const attest_prop_kernel *kernel);
    /* A kernel's end in a later run is a finding; an error status is a fault of ours.  No bounds at hand
     * (host->bounds NULL): compared stays 0 unless bits decide. */
    attest_status (*check)(attest_finding *found, attest_trial *trial, attest_error *err);
    /* Turns the outputs of one run (`outputs`, in place) into those of a kernel that breaks the statement: a function
     * of the problem, the inputs and the outputs alone.  The engine plants it and demands that check() sees it: a
     * property that does not is vacuous. */
    void (*violate)(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs);
};

extern const attest_property *const attest_properties[];
extern const size_t attest_property_count;

/* NULL if there is none of this name. */
const attest_property *attest_property_find(const char *name);

/* Is the statement about this problem and this kernel?  `applies`, but with attn_mask the properties alone that hold
 * whatever a mask tensor shows. */
int attest_property_applies(const attest_property *property, const attest_problem *p, const attest_prop_kernel *kernel);

#endif
