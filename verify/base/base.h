/* base.h - what every room of verify/ may use: options of a run, words, hashes, output folders, the machine's name.
 *
 * Answers questions about text, files and the machine.  Knows no kernel, no truth and no result: it includes kernels'
 * status.h and hash.h, nothing else of attest.
 */
#ifndef ATTEST_BASE_H
#define ATTEST_BASE_H

#include <sys/stat.h>

#include "kernels/status.h"
#include "verify/base/clock.h"
#include "verify/base/plural.h"
#include "verify/base/stop.h"
#include "verify/base/watch.h"

/* Seconds that a kernel may take for one case where nobody says else. */
#define ATTEST_TIMEOUT_SECONDS 10.0

/* What a command passes on to the room that does its work: options with the same meaning for all of them.  A text that
 * was not given is NULL. */
typedef struct attest_options {
    const char *program; /* argv[0], for commands that reproduce a result */
    const char *kernel;  /* --kernel: a glob or a name, as the command says */
    const char *device;  /* --device: cpu, cuda, cuda-host; NULL: all */
    const char *format;  /* --format: text, json */
    const char *fail_on; /* --fail-on: undecided, skip */
    const char *results; /* --results: all, compact; NULL: all */
    double timeout;      /* --timeout (else ATTEST_TIMEOUT_SECONDS): seconds a kernel may take for one case */
    double max_time;     /* --max-time: seconds the whole run may take; negative: no limit */
    long jobs;           /* --jobs: threads; 0 or less: as many as there are processors */
    long seed;           /* --seed; negative: not given */
    int quiet;           /* --quiet */
    int typical;   /* --typical: errors beside those of plain kernels; 2: worse-than-plain fails (--strict=typical) */
    int fail_fast; /* --fail-fast: nothing more is begun after a result that failed, crashed or was late */
    int strict;    /* a partial result counts as exit code 4: --strict, the default of gate and audit */
} attest_options;

/* One word of a shell command: quoted with ' where needed. */
void attest_shell_quote(char *text, size_t len, const char *word);

/* Splits a kernel's name: `NAME` (built-in: library empty), `LIB.so` (*kernel NULL: all), `LIB.so:NAME`. */
void attest_split_target(const char *target, char *library, size_t library_len, const char **kernel);

/* Makes `dir` (and parents) if needed and checks that a file can be written there, before anything runs.
 * ATTEST_BAD_INPUT names the directory. */
attest_status attest_output_dir(const char *dir, attest_error *err);

/* The date of a run that starts now: UTC, or what SOURCE_DATE_EPOCH says.  ATTEST_BAD_INPUT: that is no number. */
attest_status attest_run_date(char text[32], attest_error *err);

/* 16 hex digits of the 64-bit hash (FNV-1a) of a file's bytes; "" if it cannot be read. */
void attest_file_hash(char text[20], const char *path);

/* The same of a command of the shell: of the files that its words name, but those that it writes (`> FILE`). */
void attest_command_hash(char text[20], const char *command);

/* A file as it was seen once. */
typedef struct attest_file_seen {
    struct stat stat; /* st_ino 0: there was none */
    char hash[20];    /* attest_file_hash(), or "" */
} attest_file_seen;

/* `seen` is the file as it is now, without its hash. */
void attest_file_see(attest_file_seen *seen, const char *path);

/* Whether the file is still what was seen: the same place, size and time of change or, where its hash is known, the
 * same bytes.  1 where there was none. */
int attest_file_is(const attest_file_seen *seen, const char *path);

/* Bytes that this process and its children may use together: the memory of the machine, or the limit of a cgroup of
 * this process (version 2: memory.max, version 1: memory.limit_in_bytes, of the group and of those above it) where that
 * is less. */
uint64_t attest_memory_total(void);
/* Bytes that can still be had: of the machine, and of each control group that we are in (its page cache gives way);
 * UINT64_MAX: not known. */
uint64_t attest_memory_available(void);
/* Of the control groups in a list like /proc/self/cgroup, and of those above them, whose files are below `mount`: the
 * least limit, or (`left`) the least that is left; UINT64_MAX: none. */
uint64_t attest_memory_of_groups(const char *list, const char *mount, int left);

/* `model name (family F model M stepping S), N CPUs` of /proc/cpuinfo; "unknown CPU" elsewhere. */
void attest_machine_name(char *text, size_t len);

#endif
