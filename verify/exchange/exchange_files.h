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
    int taken; /* 1: to be judged */
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

/* 1 and the first line of skip.txt, if the case has one. */
int attest_exchange_skips(char *why, size_t len, const attest_exchanged *e, const char *dir);

#endif
