/* predict.h - the bits that a CUDA kernel will give on a GPU, by its source on the CPU; and outputs set beside them.
 *
 * Answers which bits are expected of a case, and where others arise first.  Judges nothing: a prediction that does not
 * come true is a field of a result, no verdict.
 *
 * A kernel of device cuda-host is the same .cu as that of device cuda.  Where each of its operations is named and in a
 * fixed order, and its tensor cores are those of the model (kernels/model/mma.h), its bits on the CPU are the GPU's.
 * What is taken for granted: that model, which published vectors of V100, A100, L40S and H200 confirm and no GPU of
 * ours; that nvcc contracts and reorders nothing (`make fingerprints` compares it with -fmad=false); and that maxima
 * do not depend on the sign of a zero.  Not predicted:
 *     kernels that call what the GPU's library alone defines, by name in predict.c, each with the reason;
 *     ex2.approx and the other approximate instructions, of which no table was measured (kernels/model/ex2.h);
 *     which NaN: any two count as equal.
 * Of a kernel that is not attest's own nobody has looked whether every operation is named: its predictions are unsure.
 * reports/docs/cuda.md says what a kernel must do to be predictable.
 * The folder:
 *
 *     DIR/predictions.jsonl      one object a line, written last:
 *         kernel, version, gpu   names; of the kernel as it says, of the GPU as mma.h has it
 *         library, file_hash     name of the file whose kernel predicted, and its hash, as in results
 *         cannot                 why there is no prediction; then of a whole kernel (no problem) or of one case
 *         unsure                 only where other bits may be no fault of the model: why
 *         problem, inputs        the line; hash of the bytes of its inputs
 *         bits                   hash of the bytes of all outputs, as field `outputs` of a result
 *         files                  {o: "KERNEL/0001/o.npy", lse: ..}
 *         verdict, ratio, ulp, norm_error    of the predicted outputs, beside the truth
 *         hardware               attest_hardware; null: the kernel declares no tensor cores, or `no_hardware`
 *         no_hardware            only where the run with exact sums ended badly: how; the prediction stands
 *         terms                  {score, exp, cast, accumulation, division}: of the bound at the worst element; none is
 *                                an error
 */
#ifndef ATTEST_PREDICT_H
#define ATTEST_PREDICT_H

#include "verify/gate/gate.h"

#define ATTEST_PREDICT_PATH 4096

/* What the tensor cores' truncation does to o: the same source again with each mma exact and rounded once
 * (kernels/model/mma_exact.h).  Everything else, casts, exponentials, order, rounding to the type of o, is the same in
 * both; so this is measured, and it is the effect on these inputs, not a bound.
 * Two NaN, and two infinities of one sign, are no change.  An infinity is the number behind the largest one.  Where one
 * of the two is no finite number and the other is another value, `norm` is infinite; where one of them is NaN, `steps`
 * is too. */
typedef struct attest_hardware {
    int64_t elements, changed; /* of o; whose bits are others */
    double steps;              /* the largest change, in numbers of o's type */
    double norm;               /* norm of the change / norm of the finite elements of o; infinite: of a change, where
                                * these are zeros */
    double norm_error;         /* of the exact run, as attest_result.norm_error */
} attest_hardware;

/* One case of one kernel, or a kernel that is not predicted. */
typedef struct attest_prediction {
    char kernel[64], version[32], gpu[32];
    char library[128], file_hash[20]; /* name of the file, and its hash */
    char cannot[256];                 /* "": predicted */
    const char *unsure;               /* why the bits may be others; NULL: nothing known speaks against them */
    char inputs[20], folder[96];
    int tensor_cores;
    attest_hardware hardware;
    char no_hardware[256]; /* how the run with exact sums ended, if badly; "": `hardware` is there */
    attest_result result;  /* of what is predicted */
    const attest_bundle *outputs;
} attest_prediction;

typedef struct attest_predict_request {
    const attest_suite *suite;
    const attest_plan *plan; /* of attest_predict_wants() */
    const char *gpu, *dir;   /* dir NULL: nothing is written */
    const char *plugins;     /* the folder of attest's own libraries; NULL: it has none */
    double timeout_s;
    void (*tell)(void *context, const attest_prediction *prediction); /* NULL, or called with each */
    void *context;
} attest_predict_request;

typedef struct attest_predicted {
    size_t kernels, cases, not_predicted; /* cases and whole kernels without a prediction */
    size_t no_hardware;                   /* predicted cases whose run with exact sums ended badly */
    size_t unsure;                        /* predicted cases of other libraries than attest's own */
    int died;                             /* crashes and timeouts among both */
} attest_predicted;

/* 1: a kernel of device cuda-host whose name matches the glob `context` (NULL: all). */
int attest_predict_wants(const void *context, const attest_kernel_facts *kernel);

/* 1: a GPU whose tensor cores are modelled. */
int attest_predict_knows(const char *gpu);

/* Runs every kernel of the plan on every case that it serves: of kernels of one name the first, a case that the suite
 * has twice once.  ATTEST_BAD_INPUT: no such GPU, a folder that holds predictions already or cannot be written, no
 * kernel. */
attest_status attest_predict(attest_predicted *done, const attest_predict_request *request, attest_error *err);

/* ---- beside them ------------------------------------------------------------------------------------------------- */
typedef struct attest_predictions attest_predictions;

/* ATTEST_BAD_INPUT names the file and the line. */
attest_status attest_predictions_read(attest_predictions **predictions, const char *dir, attest_error *err);
void attest_predictions_free(attest_predictions *predictions);

/* A library that predicted is, of these files the one of its name, another file now: its predictions may be old.  Calls
 * tell() with the path, once for each. */
void attest_predictions_stale(const attest_predictions *predictions, const char *const *paths, size_t count,
                              void (*tell)(void *context, const char *path), void *context);

/* Sets result->predicted: `equal`; the first element that differs, outputs in the order of their numbers, with both
 * bit patterns and how many differ; or `not predicted: ` and why, also where a file of the folder is gone or cut, or
 * the files together are not those that were hashed as `bits`.
 * Reads the files of this case; many threads may ask: an attest_look, whose context is an attest_predictions. */
attest_status attest_predictions_look(const void *predictions, attest_result *result, const attest_kernel_facts *kernel,
                                      const attest_prepared *prepared, const attest_bundle *outputs, attest_error *err);

#endif
