/* exchange_files.h - private to the room: one case of an exported folder, read from cases.jsonl, and its files. */
#ifndef ATTEST_EXCHANGE_FILES_H
#define ATTEST_EXCHANGE_FILES_H

#include <jansson.h>

#include "verify/exchange/exchange.h"

#define ATTEST_EXCHANGE_PATH 4096

/* One line of cases.jsonl. */
typedef struct attest_exchanged {
    char folder[16], suite[64], declare[ATTEST_DECLARATION];
    char line[ATTEST_LINE];
    json_t *inputs; /* borrowed from `object` */
    json_t *object; /* owned */
    attest_case c;
    int taken;       /* 1: to be judged */
    int safetensors; /* 1: its inputs lie in one file */
} attest_exchanged;

/* DIR/FOLDER/NAME, `folder` NULL: DIR/NAME.  ATTEST_BAD_INPUT: too long. */
attest_status attest_exchange_path(char path[ATTEST_EXCHANGE_PATH], const char *dir, const char *folder,
                                   const char *name, attest_error *err);

/* The cases of DIR/cases.jsonl, malloc'd; attest_exchange_free().  ATTEST_BAD_INPUT names the line. */
attest_status attest_exchange_read(attest_exchanged **cases, size_t *count, const char *dir, attest_error *err);
void attest_exchange_free(attest_exchanged *cases, size_t count);

/* Every file of the cases that are taken, and every folder of DIR: see attest_batch(). */
attest_status attest_exchange_check(const attest_exchanged *cases, size_t count, const char *dir, attest_error *err);

/* Inputs and those outputs that are there. */
attest_status attest_exchange_load(attest_bundle *inputs, attest_bundle *outputs, const attest_exchanged *e,
                                   const char *dir, attest_error *err);

/* exchange_tensors.c: which file holds a tensor.  The ids that may have a file in the folder of a case: inputs, then
 * outputs from *first_output on. */
size_t attest_exchange_ids(attest_tensor_id ids[2 * ATTEST_MAX_TENSORS], size_t *first_output, const attest_problem *p);

#define ATTEST_EXCHANGE_FILE 64
#define ATTEST_EXCHANGE_OUTPUTS "outputs.safetensors"
void attest_exchange_input(char file[ATTEST_EXCHANGE_FILE], const attest_exchanged *e, attest_tensor_id id);
/* "" if no file of the folder holds the output.  ATTEST_BAD_INPUT: two do, or one cannot be read. */
attest_status attest_exchange_output(char file[ATTEST_EXCHANGE_FILE], const attest_exchanged *e, const char *dir,
                                     attest_tensor_id id, attest_error *err);
/* ATTEST_BAD_INPUT: one of the tensors of the case's outputs.safetensors or NAME.safetensors is no output of its. */
attest_status attest_exchange_names(const attest_exchanged *e, const char *dir, const char *file, attest_error *err);
attest_status attest_exchange_tensor(attest_bundle *bundle, const attest_exchanged *e, const char *dir,
                                     const char *file, attest_tensor_id id, attest_error *err);
/* 1: a name of arrays, NAME.npy or NAME.safetensors; and 1 if the case may have an array file of this name. */
int attest_exchange_is_array(const char *file);
int attest_exchange_belongs(const attest_exchanged *e, const char *file);

/* batch.c: what is known of the arithmetic, as the bounds take it: the export's declaration `own` unless it is "" or
 * assumed->always, else the assumed one.  *covered = 0: no bound does, and why. */
attest_status attest_exchange_declared(attest_declared *declared, attest_declaration *d, int *covered, char *why,
                                       size_t len, const attest_assumed *assumed, const char *own,
                                       const attest_problem *p, attest_error *err);
/* batch.c: judges outputs; what the suite (or NULL) allows is allowed. */
attest_status attest_exchange_judge(attest_result *result, const attest_prepared *prepared,
                                    const attest_bundle *outputs, const attest_declared *declared,
                                    const attest_suite *suite, attest_error *err);

/* 1 and the first line of skip.txt, if the case has one. */
int attest_exchange_skips(char *why, size_t len, const attest_exchanged *e, const char *dir);

#endif
