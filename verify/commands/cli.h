/* cli.h - the command line: one table of commands, one table of options, and what commands share.
 *
 * Data goes to stdout, talk and progress to stderr.  A usage error is one line on stderr and exit code 2
 * (argp's own errors too).  Exit codes: attest_exit of reports/result.h.
 */
#ifndef ATTEST_CLI_H
#define ATTEST_CLI_H

#include "kernels/problem/problem.h"
#include "reports/report.h"
#include "verify/base/base.h"
#include "verify/study/study.h"
#include "verify/gate/gate.h"

#define ATTEST_CLI_LIST 300 /* most -t options (taylor:64 has 134 inputs and as many outputs), positional arguments */
#define ATTEST_CLI_LIBRARIES 256 /* most libraries of a run */

/* All options of all commands; a command's row in the option table says which it takes. */
typedef struct attest_cli {
    const char *command;
    attest_options options; /* those that a command passes on */
    const char *suite, *gate, *require_device, *out, *problem, *want, *draw, *engine, *model;
    const char *objective, *strategy, *property;
    const char *axis[ATTEST_STUDY_AXES]; /* of a study; NULL: not given */
    const char *tensor[ATTEST_CLI_LIST]; /* NAME=FILE[:LAYOUT] */
    int tensor_count;
    const char *library[ATTEST_CLI_LIBRARIES]; /* whose kernels stand in place of the built-in ones */
    int library_count;
    const char *argument[ATTEST_CLI_LIST]; /* positional */
    int argument_count;
    double exp_ulp;
    int exp_ulp_given;
    long digits, prec, rounds, cases;
    int list_cases, coverage, resume;
    long cover;            /* 0: not given */
    const char *case_glob; /* of the suite's cases; NULL: all */
    const char *range, *center, *trace, *cost;
    const char *baseline, *reason, *shard;
    const char *where;    /* settings that a case must have; NULL: all */
    const char *batch;    /* folder of an export */
    const char *declare;  /* a declaration in words */
    int golden;           /* truth and bounds beside the inputs */
    int infer;            /* a declaration by the classifier */
    const char *exec;     /* a command that is a kernel */
    const char *language; /* of a new kernel */
    const char *gpu;      /* whose tensor cores are modelled */
    const char *predict;  /* a folder of predictions, or a GPU */
    int steps;            /* of a row */
    int debug;            /* under gdb */
    int matrix;           /* every case on every defect */
    const char *row;      /* `I` or `B,H,I`; NULL: the worst element's */
} attest_cli;

typedef struct attest_command {
    const char *name;
    const char *arguments; /* usage of the positional ones, e.g. "LINE" */
    int least, most;       /* how many positional arguments */
    const char *summary;
    int (*run)(const attest_cli *cli);
} attest_command;

extern const attest_command attest_commands[];
extern const size_t attest_command_count;

/* Parses argv for the command that argv[1] names; exits with code 2 on a usage error, 0 after --help. */
void attest_cli_parse(attest_cli *cli, int argc, char **argv, const attest_command **command);

/* `WHO: MESSAGE` as the one line on stderr, under GitHub's runner as an annotation. */
void __attribute__((format(printf, 2, 3))) attest_cli_say(const char *who, const char *format, ...);

/* Says `attest COMMAND: MESSAGE`; returns the exit code of the status: 2 for bad input and i/o on what the user named,
 * 3 for memory and device, 70 for our own bugs. */
int attest_cli_error(const attest_cli *cli, attest_status status, const attest_error *err);

int attest_command_gate(const attest_cli *cli);
int attest_command_audit(const attest_cli *cli);
int attest_command_judge(const attest_cli *cli);
int attest_command_replay(const attest_cli *cli);
int attest_command_reference(const attest_cli *cli);
int attest_command_compare(const attest_cli *cli);
int attest_command_export(const attest_cli *cli);
int attest_command_predict(const attest_cli *cli);
int attest_command_init_kernel(const attest_cli *cli);
int attest_command_study(const attest_cli *cli);
int attest_command_order(const attest_cli *cli);
int attest_command_diff(const attest_cli *cli);
int attest_command_baseline(const attest_cli *cli);
int attest_command_merge(const attest_cli *cli);
int attest_command_report(const attest_cli *cli);
int attest_command_claims(const attest_cli *cli);
int attest_command_list(const attest_cli *cli);
int attest_command_bench(const attest_cli *cli);
int attest_command_defects(const attest_cli *cli);
int attest_command_search(const attest_cli *cli);
int attest_command_props(const attest_cli *cli);

/* A part of `attest props` behind an audit, of the kernels wanted of the plan's only library, as declared there: so
 * many drawn cases a kernel, none begun after so many seconds a kernel, whichever kernel took them.  Failures on
 * stderr, and a result of each; *code: 4 where nothing was compared by then, else 0.  Once a signal asks for the end
 * nothing is added. */
typedef struct attest_props_share {
    long cases;
    double seconds;
} attest_props_share;
attest_status attest_props_part(int *code, attest_results *results, const attest_run_info *info,
                                const attest_gate *gate, const attest_cli *cli, attest_props_share share,
                                attest_error *err);

/* What an audit (gate->traits) whose cases have all run asks more: traits, and behind a built-in suite, of a library
 * that could be loaded, that part.  A signal ends it, and the run with it: info->ended. */
attest_status attest_audit_more(int *code, attest_results *results, attest_traits *traits, attest_run_info *info,
                                const attest_gate *gate, const attest_cli *cli, attest_error *err);

/* The folder of plugins, `kernels/` beside the executable: by the path it was called by where the folder is there (so
 * that results and reproductions stay short), else, as of an installed one that bin/ links to, by its own.  0: not
 * known. */
int attest_cli_plugins(char *folder, size_t len, const attest_cli *cli);

/* --results compact; it keeps too little for what needs every result: ATTEST_BAD_INPUT names the option. */
int attest_cli_is_compact(const attest_cli *cli);
attest_status attest_cli_check_results(const attest_cli *cli, attest_error *err);

#endif
