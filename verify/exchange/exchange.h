/* exchange.h - a suite as files, for programs that cannot be linked: inputs out, outputs in, the same judgement.
 *
 * Answers how a folder of outputs that some other program wrote does on the cases whose inputs lie beside them.  Runs
 * no kernel, but to write the outputs of one (attest_export_request.subject).  predict.h has outputs that are expected
 * of a machine that is not here.  The folder:
 *
 *     DIR/cases.jsonl       one object a line, written last:
 *         case              "0001", the name of its folder
 *         problem           the problem line, the identity of the case
 *         suite             the suite it was taken from: its !allow rules hold
 *         keys              {variant, every axis, b, hq, hkv, n, m, d, e, scale, in, acc, p, out, chunk, splits}
 *         inputs            {q: {file, dtype, shape, hash}, ..}: file below DIR, hash as attest_file_hash()
 *         outputs           {o: {file, dtype, shape}, ..}: o is needed, the others are judged where they are
 *         declare           the declaration (kernels/library/declare_text.h) of the kernel whose outputs were exported,
 *                           or the one that the golden bounds are for
 *     DIR/0001/NAME.npy     C order, little endian; bf16 as <u2.  Or, one file with every input under its name:
 *     DIR/0001/inputs.safetensors
 *     DIR/0001/skip.txt     written by the program: it does not serve the case; its first line is the reason
 *     DIR/golden.txt and DIR/0001/o.truth.npy, o.golden.npy, ..: golden.h
 *
 * Outputs are NAME.npy, NAME.safetensors with one tensor of that name, or outputs.safetensors with several, whatever
 * the inputs are; an output lies in one file.
 */
#ifndef ATTEST_EXCHANGE_H
#define ATTEST_EXCHANGE_H

#include "verify/gate/gate.h"

/* What is assumed of the arithmetic behind the outputs of a problem: `d` is as after attest_declaration_init().  NULL
 * where nobody says: what the export says of the kernel, else unknown. */
typedef struct attest_assumed {
    attest_status (*declare)(const void *context, attest_declaration *d, const attest_problem *p, attest_error *err);
    const void *context;
    int always; /* 1: the export's own declaration does not matter */
} attest_assumed;

typedef struct attest_export_request {
    const attest_suite *suite; /* all its cases */
    const char *dir;
    const attest_subject *subject; /* NULL, or a kernel: cases that it serves only, and its outputs too */
    double timeout_s;              /* of a run of the kernel */
    int safetensors;               /* 1: tensors as .safetensors */
    int golden;                    /* 1: truth and bounds too (golden.h), of the kernel's declaration, else `assumed` */
    attest_assumed assumed;
} attest_export_request;

typedef struct attest_exported {
    size_t count; /* cases */
    int64_t open; /* golden: elements whose correct rounding is not decided at the cap of the precision */
} attest_exported;

/* Writes the folder.  ATTEST_BAD_INPUT: it is not empty, cannot be written, the kernel serves none of the cases, or no
 * bound covers the declaration of a golden case; a kernel that fails, crashes or hangs is ATTEST_KERNEL_ERROR. */
attest_status attest_export(attest_exported *done, const attest_export_request *request, attest_error *err);

typedef struct attest_batch_request {
    const char *dir;
    const char *where; /* settings `key=value ..` that a case must have, or NULL */
    const char *cases; /* glob that its line or the name of its folder must match, or NULL */
    attest_assumed assumed;
    const char *program; /* argv[0], for reproductions */
} attest_batch_request;

/* Judges every case in the order of cases.jsonl; `results` begins empty.  Before anything is judged all files are
 * looked at: ATTEST_BAD_INPUT names the first that is missing, that no case has, that is cut off, of another shape or
 * type, or an input that is not the one that was exported, and how many more there are.  Verdict and ratios are those
 * that the gate would give for the same bits and declaration; what the gate asks of a kernel by running it again
 * (case_checks.h, repeat_checks.h) is not asked.  A file of NaN is a result: it fails where the truth is a number. */
attest_status attest_batch(attest_results *results, const attest_batch_request *request, attest_error *err);

#endif
