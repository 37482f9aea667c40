/* door.h - a program as a kernel library: any language, by lines on its stdin and stdout and .npy files in a folder.
 *
 * Answers what a program that is no shared library declares, serves and computes.  Runs in the worker; judges nothing.
 * A library path `exec:COMMAND` names such a program: COMMAND goes to `sh -c`.  It has one kernel.  The protocol:
 *
 *     program  attest 1 KEY=VALUE ...       once, when it is ready (imports and compilation are not timed)
 *     attest   supports PROBLEM             only with asks=yes
 *     program  yes | no REASON
 *     attest   run dir=DIR outputs=o,lse PROBLEM
 *     program  ok | error TEXT              after it has read DIR/q.npy, .. and written DIR/o.npy, ..
 *     attest   (end of file)                the program ends
 *
 * PROBLEM is words key=value: b hq hkv n m d e scale in acc p out chunk splits, and each axis that is not at its
 * default, so a program that meets a key which it does not know does not serve the problem.  KEY=VALUE of the first
 * line, all optional:
 *
 *     name=NAME version=TEXT       [a-z0-9-]+, default `program`; default `1`
 *     outputs= flags= form= ..     what it declares: kernels/library/declare_text.h
 *     variants=PRESET,..           `attest list variants`; default softmax
 *     AXIS=VALUE,..                values of an axis that it serves, `any`: all but alibi=usual, which has no tensor
 *                                  slope (older programs would look for it); an axis that is not named: that of the
 *                                  variant
 *     in=f32,bf16 acc= p= out=     types that it serves; default f32, those that a problem line has, acc, that of `in`
 *     asks=yes                     the rest is decided by `supports`
 *
 * Files: shapes as in attest.h, C order, little endian, the header of 128 bytes; bf16 as <u2.  An output may also be
 * NAME.txt: numbers as strtod() reads them, separated by white space, rounded once to its type.  Other lines of the
 * program are what it printed.  Its end, by a signal or not, is that of the worker: it costs one result.
 */
#ifndef ATTEST_DOOR_H
#define ATTEST_DOOR_H

#include "kernels/library/library.h"

#define ATTEST_DOOR_PREFIX "exec:"

typedef struct attest_door attest_door;

/* 1 for `exec:COMMAND`. */
int attest_door_is(const char *library);

/* Starts the program and reads its first line; the plugin has its kernel.  ATTEST_BAD_INPUT with what is wrong: it ends
 * or says something else before that line, or declares what nobody can.  The caller frees the plugin first, then the
 * door.  From here on SIGPIPE is ignored. */
attest_status attest_door_open(attest_door **door, attest_plugin **plugin, const char *library, attest_error *err);

/* Ends the program's input; does not wait for it: the supervisor ends what is left. */
void attest_door_free(attest_door *door);

#endif
