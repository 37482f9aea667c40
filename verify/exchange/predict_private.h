/* predict_private.h - private to the room: bits of tensors, and lines of predictions.jsonl. */
#ifndef ATTEST_PREDICT_PRIVATE_H
#define ATTEST_PREDICT_PRIVATE_H

#include "verify/exchange/predict.h"

#define ATTEST_PREDICTIONS "predictions.jsonl"

/* DIR/FOLDER/NAME, `folder` NULL: DIR/NAME.  ATTEST_BAD_INPUT: too long. */
attest_status attest_predict_path(char path[ATTEST_PREDICT_PATH], const char *dir, const char *folder, const char *name,
                                  attest_error *err);

/* FNV-1a over the bytes of these tensors that the bundle has. */
void attest_predict_hash(char text[20], const attest_bundle *bundle, const attest_tensor_id *ids, size_t count);

/* Number `at` of a tensor in C order: its index, its bits; 1 if two of them are the same number of a type, or both NaN;
 * how many numbers of the type lie between them, one counted. */
void attest_predict_index(char *text, size_t len, const attest_tensor *t, int64_t at);
uint64_t attest_predict_bits(const attest_tensor *t, int64_t at);
int attest_predict_same(const attest_tensor *a, const attest_tensor *b, int64_t at);
double attest_predict_steps(const attest_tensor *a, const attest_tensor *b, int64_t at);

/* Of o, by the rule of attest_hardware: what is other with exact sums; h->norm_error stays. */
void attest_predict_measure(attest_hardware *h, const attest_tensor *model, const attest_tensor *exact);

/* The line of a prediction; its outputs are written beside it. */
attest_status attest_predict_write(FILE *out, const char *dir, const attest_prediction *prediction, attest_error *err);

#endif
