/* props_replay.h - `attest replay TOKEN`: the property of a token, asked again of its example. */
#ifndef ATTEST_PROPS_REPLAY_H
#define ATTEST_PROPS_REPLAY_H

#include "verify/commands/cli.h"

/* 1 if the word is meant as a token: it begins with `av` and digits and a colon. */
int attest_is_token(const char *text);

/* The token that `path` holds, malloc'd: a file of one, or a folder of a failure (props_files.h).  NULL: neither. */
char *attest_token_of_file(const char *path);

/* Runs the token's property on its kernel, or on that of --kernel, and tells what it found.  Exit code: 1 broken, 0 it
 * holds, 3 a crash or a hang, 77 the kernel or the property has nothing to say of the case, 2 no token, no such
 * property or kernel. */
int attest_props_replay(const attest_cli *cli, const char *text);

#endif
