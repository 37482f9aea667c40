/* run.h - run.json: what a run of the gate was to do, what it has done, and whether it finished.
 *
 * It lies beside results.jsonl, is written when the run begins and replaced when it ends.  A run that was killed leaves
 * the first one: `finished` is false, `done` 0, and how far it came shows in its results.
 */
#ifndef ATTEST_RUN_INFO_H
#define ATTEST_RUN_INFO_H

#include <stddef.h>

#include "kernels/status.h"

typedef struct attest_run_info {
    char tool[32];  /* attest's version */
    char run[32];   /* the run's date, as in its results */
    char suite[64]; /* its name, and the hash of its text */
    char suite_hash[20];
    char cases_hash[20];   /* of all its cases, drawn ones too, in their order */
    char kernels_hash[20]; /* of the names of the kernels and of their files */
    char options[512];     /* those that decide results */
    char device[256];      /* of its kernels, as in results; where they have several, one after the other */
    char flags[512];       /* likewise: build flags, and the instruction set that fast kernels use */
    char shard[24];        /* `2/3`: these cases only; "": all */
    char baseline[512];    /* what changed since the baseline, in one line; "": compared with none */
    char would_pass[2048]; /* what failures would pass under, ` | ` between two: `k with scale=1: tested on ...` */
    char ended[64];        /* why it did not finish: `--max-time`, `SIGINT`, ...; "": it finished, or was killed */
    char fail_on[16];      /* --fail-on: results with this verdict are no passes; "": none is named */
    int64_t cases, done;   /* of the suite; those that all kernels were asked */
    int64_t planned;       /* cases times kernels: each ends as a result or as a refusal */
    int64_t results, refused;
    int64_t
        complete; /* 1: all cases have run, and results.jsonl (or results.jsonl.final) holds the last word on each */
    int64_t finished; /* 1: and every file is written */
    int64_t lines;    /* of results.jsonl, once every file is written; 0: not known */
    int running;      /* 1: another process writes the folder while this is told.  In no file */
    double seconds;   /* of this process, for who reads its last line; 0: not known.  In no file, nor the next one */
    double started;   /* when it began, by the clock that makes `seconds` */
} attest_run_info;

attest_status attest_run_info_write(const attest_run_info *info, const char *path, attest_error *err);
/* ATTEST_BAD_INPUT names the file and what is wrong with it. */
attest_status attest_run_info_read(attest_run_info *info, const char *path, attest_error *err);

/* ATTEST_BAD_INPUT where results.jsonl of `dir` does not hold as many results as the run, which finished, wrote. */
attest_status attest_run_info_whole(const attest_run_info *info, size_t results, const char *dir, attest_error *err);

/* `unfinished: 3 of 12 cases (SIGINT)`, or that all cases have run and not all that follows; "" for a run that
 * finished.  `seen`: cases with a result, for a run that could not count itself, or still runs. */
void attest_run_info_banner(char *text, size_t len, const attest_run_info *info, size_t seen);

#endif
