/* studies.h - inside reports/page: the studies of a folder. */
#ifndef ATTEST_PAGE_STUDIES_H
#define ATTEST_PAGE_STUDIES_H

#include "reports/report.h"

#define ATTEST_PAGE_STUDIES 2

/* What DIR/study-NAME.jsonl and DIR/study-NAME.run.json hold, for the studies order and range. */
typedef struct attest_page_studies {
    size_t count; /* of them those that are there */
    struct attest_page_study {
        attest_results points;
        attest_run_info run; /* of points in place of cases */
        int has_run;         /* 0: an older study, which does not say how far it came */
    } study[ATTEST_PAGE_STUDIES];
} attest_page_studies;

/* ATTEST_BAD_INPUT names the file, and what is wrong with it. */
attest_status attest_page_studies_read(attest_page_studies *studies, const char *dir, attest_error *err);
void attest_page_studies_clear(attest_page_studies *studies);

/* Each with its picture, its caption and its numbers; of one that did not finish first how far it came. */
attest_status attest_page_studies_print(FILE *out, const char *dir, const attest_page_studies *studies,
                                        attest_error *err);

/* DIR/NAME into `path`; 0: it is not there.  `dir` has less than 4000 bytes. */
int attest_page_find(char path[4096], const char *dir, const char *name);

#endif
