/* door_private.h - private to the room: the program's process, what it serves, its files. */
#ifndef ATTEST_DOOR_PRIVATE_H
#define ATTEST_DOOR_PRIVATE_H

#include <stdio.h>
#include <sys/types.h>

#include "kernels/door/door.h"

#define ATTEST_DOOR_LINE 4096
#define ATTEST_DOOR_PATH 4096

/* What the first line says. */
typedef struct attest_door_hello {
    char name[64], version[32];
    attest_declaration declared;
    char variants[512];                /* presets */
    char axes[ATTEST_AXIS_COUNT][256]; /* values; "": that of the variant */
    char types[4][64];                 /* in, acc, p, out; "": the default */
    int asks;
} attest_door_hello;

struct attest_door {
    attest_library library;
    attest_kernel kernel;
    const attest_kernel *kernels[1];
    attest_door_hello hello;
    pid_t pid;
    FILE *to, *from;
    char folder[ATTEST_DOOR_PATH]; /* for files; "": none */
};

/* ---- door_process.c */
attest_status attest_door_start(attest_door *door, const char *command, attest_error *err);
/* One line to the program. */
void attest_door_say(attest_door *door, const char *line);
/* The next line that begins with one of `words` (ends with NULL), without its newline; others go to stderr.  Where the
 * program has ended, `started`: the worker ends as it did and this does not return; else 0. */
int attest_door_hear(char line[ATTEST_DOOR_LINE], attest_door *door, const char *const *words, int started);

/* ---- door_hello.c */
attest_status attest_door_hello_parse(attest_door_hello *hello, const char *line, attest_error *err);
/* 1, or 0 with the reason. */
int attest_door_hello_serves(const attest_door_hello *hello, const attest_problem *p, char *why, size_t len);
/* PROBLEM. */
void attest_door_problem(char *text, size_t len, const attest_problem *p);

/* ---- door_files.c */
/* Inputs of the call into the folder. */
attest_status attest_door_write(const attest_door *door, const attest_call *call, attest_error *err);
/* Outputs of the call out of it. */
attest_status attest_door_read(const attest_door *door, const attest_call *call, attest_error *err);
/* Removes what both left. */
void attest_door_clean(const attest_door *door, const attest_call *call);

#endif
