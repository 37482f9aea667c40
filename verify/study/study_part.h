/* study_part.h - DIR/study-NAME.part: the results of a run as they come, which another run may go on with. */
#ifndef ATTEST_STUDY_PART_H
#define ATTEST_STUDY_PART_H

#include "verify/study/study_private.h"

/* Makes run->results the file; with request->resume the results that lie there are taken over first.  ATTEST_BAD_INPUT:
 * no part is there, or it is of another request. */
attest_status study_part_open(study_run *run, attest_error *err);

/* DIR/study-NAME.SUFFIX.  ATTEST_BAD_INPUT: too long. */
attest_status study_path(char path[4096], const char *dir, const attest_study *study, const char *suffix,
                         attest_error *err);

#endif
