/* classify_private.h - inside classify*.c: a kernel being asked, a question (probe_run), what came out (inference).
 *
 * A probe run is one run of the kernel on inputs that a probe has designed; batch entries are experiments side by side,
 * so that a probe costs a run or a few.  Nothing here reads the kernel's name, numerics or flags; of its outputs, which
 * it can be asked for.
 */
#ifndef ATTEST_CLASSIFY_PRIVATE_H
#define ATTEST_CLASSIFY_PRIVATE_H

#include "kernels/tensor/tensor.h"
#include "verify/classify/classify.h"

/* Keys of the longest probe for tiles: a tile of so many is not seen. */
enum { CLASSIFY_KEYS = 512 };

/* The most parts that a probe of the division asks for, and the most keys that they have together. */
enum { CLASSIFY_PARTS = 31, CLASSIFY_MERGED = 216 };

/* How many parts CLASSIFY_KEYS keys have, of which one was seen to have `part` keys: the last one may be shorter or
 * longer than the others, so that it is the nearer of the quotient rounded down and up. */
static inline int64_t classify_parts_of(int64_t part) { return (2 * CLASSIFY_KEYS + part) / (2 * part); }

/* How a kernel is made to add chosen numbers: with q = 1, k = key and v = value x, token after token adds x. */
typedef struct classify_path {
    const char *axes; /* of the problem line */
    double key, value;
    int exponential; /* weights are e^s: key is a score */
    int mean;        /* o is the sum over the number of keys */
    int square;      /* decays: a line with other n than m contradicts itself, and is not served */
} classify_path;

typedef struct classify_types {
    uint32_t in, acc, p, out;
} classify_types;

/* The kernel, and how it is best asked. */
typedef struct probed_kernel {
    attest_worker *worker;
    size_t index;
    uint32_t outputs; /* ATTEST_GIVES_* */
    double timeout_s;
    const classify_path *path; /* NULL: none of ours */
    classify_types types;
    const char *mask;   /* under which one query sees all keys */
    uint32_t schedule;  /* as inferred; ATTEST_SCHEDULE_UNKNOWN: not (yet) */
    int64_t tile;       /* keys between two rescalings, 0: none seen */
    int64_t stated;     /* the same as the kernel declares it, 0: none; -1: it declares no schedule or no tile of it */
    int64_t splits;     /* of a split kernel: 0 as many as problem.splits says, else that many */
    double unit;        /* unit roundoff of sums as inferred; 0: not (yet) */
    int coarse_weights; /* the unit is that of sums of weights alone: other sums are finer */
    int truncates;      /* some sum rounds toward zero */
    int odd_sums;       /* some sum is not one: what it leaves lies on no grid of an accumulator */
    int base2;          /* lse is in base 2 */
    int sums_cast;      /* the denominator adds cast weights */
    int argument;       /* of the exponential: 0 not known, 1 x, 2 x log2(e), 3 the same with log2(e) rounded before */
    int shallow;        /* sums or states of f16: what is below 2^-24 is lost by right */
    int absorbs;        /* a small weight beside a large one does not come back from o */
    int unsteady;       /* the two runs of a case gave other bits (seen of kernels with ATTEST_DETERMINISTIC) */
    attest_classify_fault *fault;
    char dead[160]; /* how it ended in an earlier probe; "": alive */
} probed_kernel;

#define NO_ANSWER "the kernel did not answer"
#define ABSORBED "a small weight beside a large one does not come back from o: it may have been absorbed"

/* What a probe says.  value: the trait as attest_numerics (attest.h) codes it, NAN: none of the values there are (`why`
 * tells); visible = 0: `why` tells why not.  blind: of an error, what the way of reading alone may have made of it.
 * either: 0, or another value that looks the same, for the reason `why`: then nothing is said of a kernel that declares
 * one of the two, or nothing. */
typedef struct inference {
    int visible;
    double value, blind, either;
    char why[160];
} inference;

/* Not visible, with the reason. */
void classify_hidden(inference *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How many parts a kernel of this schedule was seen to have. */
void classify_seen_parts(inference *out, uint32_t schedule, int64_t parts);
/* Visible, and none of the trait's values. */
void classify_other(inference *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void classify_seen(inference *out, double value);
/* What is read of a state is read of one state: `reads` fills state[near], [closed], [far] (1 state, 0 pair, -1 not to
 * be asked) under the kernel's mask.  mask=full lets one state hold all keys, whatever else a kernel does: there it is
 * asked under mask=causal again, and where that is not served, *one is 1. */
enum { CLASSIFY_NEAR = 0, CLASSIFY_CLOSED = 1, CLASSIFY_FAR = 2, CLASSIFY_READS = 3 };
typedef attest_status classify_reads(int state[CLASSIFY_READS], probed_kernel *k, attest_error *err);
attest_status classify_ask_states(int state[CLASSIFY_READS], int *one, classify_reads *reads, probed_kernel *k,
                                  attest_error *err);
/* A schedule of states that was seen, out of these. */
void classify_seen_states(inference *out, const int state[CLASSIFY_READS], int one);

typedef struct probe_run {
    probed_kernel *kernel;
    attest_problem problem;
    char line[ATTEST_LINE];
    attest_bundle *bundle; /* NULL: the kernel does not serve the problem */
    int ran;               /* 1: the outputs are there */
    int64_t last;          /* the query that sees all keys */
    int spread;            /* channels that one score takes, so that it is exact: d of probe runs with scores */
} probe_run;

/* Opens the problem of the line (printf), under the kernel's types and mask, n so that query s->last sees all keys,
 * with d as needed for scores; m must stand in it; `scale`, `chunk` and all axes may.  Every input is 0, but b, a and
 * gamma are 1.  Not served: s->bundle is NULL, status ATTEST_OK.  classify_open_line(): the line as it is, with the
 * types only. */
attest_status classify_open(probe_run *s, probed_kernel *k, attest_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
attest_status classify_open_line(probe_run *s, probed_kernel *k, attest_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void classify_close(probe_run *s);

/* Runs the kernel; s->ran says whether it answered.  A kernel that dies is not asked again (k->dead). */
attest_status classify_run(probe_run *s, attest_error *err);

/* One element; probe_run without that tensor: nothing, NAN.  put returns what was stored. */
double classify_put(probe_run *s, attest_role role, int64_t b, int64_t h, int64_t i, int64_t c, double x);
double classify_get(const probe_run *s, attest_role role, int64_t b, int64_t h, int64_t i, int64_t c);
/* Natural lse of batch entry b and the last query, whatever base the kernel was seen to use. */
double classify_lse(const probe_run *s, int64_t b);
/* A whole tensor. */
void classify_fill(probe_run *s, attest_role role, double x);

/* q = 1 on the score's channels, for all queries. */
void classify_ask_scores(probe_run *s);
/* k_bj so that its score is x, exactly if x has at most 24 bits; returns the score stored. */
double classify_score(probe_run *s, int64_t b, int64_t j, double x);

/* How many keys a softmax kernel adds up by themselves: its tile as it was seen or, where no schedule was visible, as
 * it is declared; 0: no tiles; -1: neither tells. */
int64_t classify_summed(const probed_kernel *k);

/* Unit roundoffs of the kernel's acc and out. */
double classify_unit(const probed_kernel *k);
double classify_out_unit(const probed_kernel *k);
/* That of the type to which weights are cast; 0: not cast. */
double classify_cast_unit(const probed_kernel *k);

/* i-th number of a fixed sequence that fills [0,1) evenly. */
double classify_even(int64_t i);

/* A score whose weight is 0 in acc, not far beyond: about -128. */
double classify_near_rest(const probed_kernel *k);

/* Takes path, types and mask: the first of each that the kernel serves. */
void classify_begin(probed_kernel *k);
/* The first types with p narrower than acc that the kernel serves on its path; 0: none. */
int classify_narrow(probed_kernel *narrow, probed_kernel *k);

/* A problem of the path whose query 0 sees no key. */
#define CLASSIFY_NO_EMPTY "no problem with rows without a key is served: mask=causal-br, lens, attn_mask"
attest_status classify_open_empty(probe_run *s, probed_kernel *k, int n, int m, int e, attest_error *err);

/* ---- probes: classify_schedule.c, _sums.c, _division.c, _order.c, _exp.c, _cast.c, _rules.c.  An `again` is the
 * second probe of a trait, which is asked only where the first contradicts what is declared: _range.c, _pairs.c,
 * _exp.c, _cast.c, _again.c, _rules_again.c. */
typedef attest_status classify_probe(inference *out, probed_kernel *k, attest_error *err);
classify_probe classify_schedule, classify_tile, classify_splits;
classify_probe classify_acc_unit, classify_acc_truncates, classify_state_dtype, classify_div_error;
classify_probe classify_serial;
classify_probe classify_exp_error, classify_log2_domain, classify_scale_dtype;
classify_probe classify_p_rounding, classify_cast_in_sum;
classify_probe classify_ftz, classify_lse_base, classify_lse_sink, classify_empty_row, classify_packed;
classify_probe classify_masked_finite, classify_causal, classify_causal_br, classify_deterministic, classify_batch;
classify_probe classify_schedule_again, classify_tile_again, classify_splits_again;
classify_probe classify_acc_unit_again, classify_acc_truncates_again, classify_state_dtype_again;
classify_probe classify_div_error_again, classify_serial_again;
classify_probe classify_exp_error_again, classify_log2_domain_again, classify_scale_dtype_again;
classify_probe classify_p_rounding_again, classify_cast_in_sum_again;
classify_probe classify_ftz_again, classify_lse_base_again, classify_lse_sink_again, classify_empty_row_again;
classify_probe classify_masked_finite_again, classify_causal_again, classify_causal_br_again, classify_packed_again;
classify_probe classify_deterministic_again, classify_batch_again;

#endif
