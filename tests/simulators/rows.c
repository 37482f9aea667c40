/* rows.c - the sections of the table, in the order of derivations.md. */
#include "tests/simulators/rows.h"

const sim_section *const sim_sections[] = { &sim_rows_scores, &sim_rows_weights, &sim_rows_sums,      &sim_rows_outputs,
                                            &sim_rows_states, &sim_rows_scans,   &sim_rows_schedules, NULL };
