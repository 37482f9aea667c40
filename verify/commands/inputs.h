/* inputs.h - tensors named on the command line, and drawing of the others; what is assumed of a kernel's arithmetic;
 * libraries and predictions that commands share.
 *
 * With any of q, k, v given, all three must be, and every other tensor that the variant uses must be given
 * or named in --draw; with none of them given, what is not given is drawn.  Sizes default to the files';
 * stated sizes must match; missing leading axes are 1.  Layout BHSD, or FILE:BSHD.
 */
#ifndef ATTEST_INPUTS_H
#define ATTEST_INPUTS_H

#include "kernels/library/library.h"
#include "kernels/tensor/tensor.h"
#include "verify/commands/cli.h"
#include "verify/exchange/predict.h"

/* Parses --problem with the files' sizes into *c, fills `inputs` (all tensors the problem uses).  With
 * `outputs` not NULL, -t of o u z lse ht.n zt.n goes there, else it is ATTEST_BAD_INPUT.  Every message
 * about a tensor names its file. */
attest_status attest_inputs_load(attest_case *c, attest_bundle *inputs, attest_bundle *outputs, const attest_cli *cli,
                                 attest_error *err);

/* --declare, else --model and --exp-ulp, of the attest_cli `context`: fills `declared`, which is as after
 * attest_declaration_init().  ATTEST_BAD_INPUT names the option, and what is allowed. */
attest_status attest_cli_assume(const void *context, attest_declaration *declared, const attest_problem *p,
                                attest_error *err);

/* Was one of --declare, --model and --exp-ulp given, whatever its value? */
int attest_cli_assumes(const attest_cli *cli);

/* The built-in kernels and the plugins in `kernels/` beside the executable, sorted by name: list[0] is NULL.  No such
 * folder: none.  ATTEST_BAD_INPUT: it cannot be read, or holds more; a run would be one of fewer kernels. */
typedef struct attest_libraries {
    char *path[ATTEST_CLI_LIBRARIES];
    const char *list[ATTEST_CLI_LIBRARIES + 1];
    size_t count;
} attest_libraries;
attest_status attest_libraries_find(attest_libraries *l, const attest_cli *cli, attest_error *err); /* *l is 0 */
void attest_libraries_clear(attest_libraries *l);

/* attest_device of a name: cpu, cuda, cuda-host; 0: no such device. */
uint32_t attest_cli_device(const char *name);

/* gate --predict: reads the folder that it names, or predicts the suite for the GPU that it names, into OUT/predicted;
 * *predictions NULL: not asked. */
attest_status attest_cli_predictions(attest_predictions **predictions, const attest_cli *cli, const attest_suite *suite,
                                     attest_error *err);

#endif
