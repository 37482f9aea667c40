/* properties.h - asks the properties of props/ of kernels, and tells, keeps and repeats what they break.
 *
 * Answers: which properties hold of a kernel (props_run.h, told by props_print.h), what broke one (props_failure.h),
 * whether a kept failure still fails (props_replay.h), and which planted defects properties find (props_defects.h).
 * Runs kernels in workers and judges by the truth, both through verify/gate; draws, shrinks and searches through
 * props/. Decides no verdict of a gate, and knows no command line.
 */
#ifndef ATTEST_VERIFY_PROPERTIES_H
#define ATTEST_VERIFY_PROPERTIES_H

#include "verify/properties/props_defects.h"
#include "verify/properties/props_failure.h"
#include "verify/properties/props_print.h"
#include "verify/properties/props_replay.h"

#endif
