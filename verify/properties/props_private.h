/* props_private.h - private to props_run.c and props_case.c: a run's state and its jobs. */
#ifndef ATTEST_PROPS_PRIVATE_H
#define ATTEST_PROPS_PRIVATE_H

#include "props/generate/generate.h"
#include "props/properties/properties.h"
#include "verify/properties/props_run.h"

/* What one property said of one job. */
typedef struct props_verdict {
    unsigned char asked, compared, broken;
    float ratio;
} props_verdict;

typedef struct props_job {
    size_t kernel;
    uint32_t number;
    const char *line;         /* of an edge; NULL: generated */
    const attest_case *given; /* of a redraw, or of the request */
    int ran, starved, refused;
    long runs;
    int64_t elements;
} props_job;

typedef struct props_state {
    const attest_props_request *request; /* its properties resolved */
    attest_props_result *result;
    size_t *kernel; /* indices in the worker, of those wanted */
    size_t kernels;
    props_job *job;
    size_t jobs;
    props_verdict *verdict; /* [job][property] */
    unsigned char *label;   /* [job][label] */
    size_t done;
    double until; /* no case is begun after this time */
    int stop;
    attest_status status; /* first error of ours */
    attest_error err;
} props_state;

/* One thread's worker. */
typedef struct props_hand {
    attest_worker *worker;
    attest_props_world world;
    attest_prop_host host;
} props_hand;

/* Which properties a run asks. */
int props_selected(const attest_props_request *request, const attest_property *property);

/* The problem of a job; *starved: the kernel serves none that could be drawn.  The job is only read: several threads
 * may ask for the problem of one job, each to plant another violation. */
attest_status props_make_case(attest_case *c, int *starved, const props_job *j, const props_state *s, props_hand *h,
                              attest_error *err);

/* Makes, runs and asks one job. */
attest_status props_run_job(props_state *s, props_job *j, props_hand *h, attest_error *err);

/* Cases that property k held for, all over the run, with its violation planted, until one shows it. */
attest_status props_plant(props_state *s, size_t k, props_hand *h, attest_error *err);

#endif
