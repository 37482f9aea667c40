/* ci.h - what CI systems read of a run: JUnit, SARIF, TAP, GitHub's annotations and step summary, and code quality as
 * GitLab shows it.
 *
 * Answers which results need attention (attest_results_bad(): with --fail-on=skip skips do), in the form and within the
 * limits of who shows them.  Reads results through reports/results.h and prints; runs nothing, decides nothing.
 *
 * The place of a finding is line 1 of a file, for some readers refuse a report with a finding that has none: the
 * kernel's source file, as the kernel states it; else its library; else (a program behind --exec, the run itself) the
 * suite, as NAME.suite.  Annotations have only the first of them, and else no place.  Its identity (fingerprint) is a
 * hash of kernel, rule and problem line (of a regression its kind, class and condition): it is the same in the next
 * run.  Its rule is the first reason of a failure, else the verdict: `bound`, `nan-pattern`, `crash`, `partial`; of a
 * run that did not finish `unfinished`.  It is an error if attest_result_failed() or the run did not finish (a part of
 * it is no pass), else a warning.
 */
#ifndef ATTEST_CI_H
#define ATTEST_CI_H

#include "reports/report.h"

/* What a finding of this result is called, and its identity: 16 hex digits. */
#define ATTEST_CI_UNFINISHED "unfinished"
const char *attest_ci_rule(const attest_result *result);
void attest_ci_fingerprint(char text[20], const attest_result *result);
int attest_ci_is_error(const attest_result *result);
/* Where it is: a path; "": nowhere, the result is of no suite. */
#define ATTEST_CI_PLACE 520
void attest_ci_place(char *path, size_t len, const attest_result *result);
/* What a test of this result is called beside its kernel: the problem line; `(the run)`; else `(whole kernel)`, with
 * what failed: `(whole kernel) property constant-value`.  At most sizeof problem + sizeof why bytes. */
void attest_ci_case(char *text, size_t len, const attest_result *result);

/* JUnit: a testsuite per kernel, a testcase per problem line; skips as <skipped>; crashes, timeouts and an unfinished
 * run as <error>, the rest of the non-passing as <failure>, with the reproduction in system-out.  Counts are of the
 * testcases that are there; of a list that holds some results only, the property `results` says how many there were. */
attest_status attest_ci_write_junit(const attest_results *results, const char *path, attest_error *err);

/* SARIF 2.1.0: one run, a rule a kind of finding, a result for each result that needs attention; those beyond
 * ATTEST_SARIF_MOST, failures first, are counted in the run's properties. */
#define ATTEST_SARIF_MOST 5000
attest_status attest_ci_write_sarif(const attest_results *results, const char *path, attest_error *err);

/* Code quality: a JSON array of findings (description, check_name, fingerprint, severity, location). */
attest_status attest_ci_write_quality(const attest_results *results, const char *path, attest_error *err);

/* TAP 14: `ok` for pass, ill-posed and measured, `ok # SKIP`, `not ok` with a YAML block for what needs attention. */
attest_status attest_ci_print_tap(FILE *out, const attest_results *results, attest_error *err);

/* 1: GitHub's runner reads what is printed (GITHUB_ACTIONS=true). */
int attest_ci_on_github(void);

/* One error as a workflow command of GitHub, in one line: of a command that could not do what it was asked. */
void attest_ci_print_error(FILE *out, const char *title, const char *text);

/* Workflow commands of GitHub: the nine worst, then how many more, for it shows ten of a kind and drops the others in
 * silence. */
#define ATTEST_ANNOTATIONS 9
attest_status attest_ci_print_annotations(FILE *out, const attest_results *results, attest_error *err);

/* Appends the summary (report.h) to the file that GitHub names; what is beyond its limit of 1 MiB is cut at the end of
 * a line, and that is said. */
attest_status attest_ci_append_summary(const char *path, const attest_results *results, const attest_run_info *run,
                                       attest_error *err);

#endif
