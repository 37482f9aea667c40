/* props_replay.h - `attest replay ID`: the property of a repro id, asked again of its example. */
#ifndef ATTEST_PROPS_REPLAY_H
#define ATTEST_PROPS_REPLAY_H

#include "verify/base/base.h"

/* 1 if the word is meant as a repro id: it begins with `av` and digits and a colon. */
int attest_is_token(const char *text);

/* The repro that `path` holds, malloc'd: a file of one, or a folder of a failure (props_files.h).  NULL: neither. */
char *attest_repro_of_file(const char *path);

/* Runs the repro id's property on its kernel, or on options->kernel, and tells what it found.  *code: 1 broken, 0 it
 * holds, 3 a crash or a hang, 77 the kernel or the property has nothing to say of the case.  ATTEST_BAD_INPUT: no
 * repro id, no such property or kernel. */
attest_status attest_props_replay(int *code, const attest_options *options, const char *text, attest_error *err);

#endif
