/* test_defects.c - the table of planted defects: a file each that includes its base kernel's source, not a copy. */
#include <check.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/registry.h"
#include "verify/defects/defects.h"

Suite *suite_defects(void);

enum { LONGEST = 60 }; /* lines of a defect's file: a step, not a kernel */

static const attest_kernel *base_of(const attest_defect *d)
{
    const attest_library *library = attest_builtin_library();
    for (size_t k = 0; k < library->kernel_count; k++)
        if (strcmp(library->kernels[k]->name, d->base) == 0)
            return library->kernels[k];
    return NULL;
}

/* `-`, or words that each name a bug: B and two digits first, or arXiv. */
static int cites(const char *bugs)
{
    if (strcmp(bugs, "-") == 0)
        return 1;
    return (bugs[0] == 'B' && isdigit((unsigned char)bugs[1]) && isdigit((unsigned char)bugs[2])) ||
           strncmp(bugs, "arXiv:", 6) == 0;
}

START_TEST(rows)
{
    char name[128], other[128];
    ck_assert_uint_ge(attest_defect_count, 90);
    for (size_t k = 0; k < attest_defect_count; k++) {
        const attest_defect *d = &attest_defects[k];
        ck_assert_msg(base_of(d) != NULL, "%s: no kernel %s", d->id, d->base);
        ck_assert_msg(cites(d->bugs), "%s: '%s'", d->id, d->bugs);
        ck_assert_msg(strlen(d->what) > 10 && !strpbrk(d->what, "\"\\|\n") && !strpbrk(d->bugs, "\"\\|\n"), "%s: words",
                      d->id);
        for (size_t l = 0; l < k; l++) {
            attest_defect_name(name, d);
            ck_assert_str_ne(name, attest_defect_name(other, &attest_defects[l]));
            ck_assert_msg(strcmp(d->what, attest_defects[l].what) != 0, "%s and %s are the same", name, other);
        }
    }
}
END_TEST

/* The file names its base's source, and is short. */
START_TEST(files)
{
    for (size_t k = 0; k < attest_defect_count; k++) {
        const attest_defect *d = &attest_defects[k];
        const char *source = strrchr(base_of(d)->source, '/');
        char path[512], line[512], want[256];
        int lines = 0, includes = 0;
        glob_t found;
        snprintf(path, sizeof path, "%s/kernels/defects/*/%s.c", ATTEST_TEST_ROOT, d->id);
        ck_assert_msg(glob(path, 0, NULL, &found) == 0 && found.gl_pathc == 1, "%s: not one file", path);
        snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
        globfree(&found);
        snprintf(want, sizeof want, "#include \"cpu%s\"", source);
        FILE *in = fopen(path, "r");
        ck_assert_msg(in != NULL, "%s: no such file", path);
        while (fgets(line, sizeof line, in)) {
            lines++;
            includes += strncmp(line, want, strlen(want)) == 0;
        }
        fclose(in);
        ck_assert_msg(includes == 1 && lines <= LONGEST, "%s: %d lines, includes %s %d times", path, lines, source,
                      includes);
    }
}
END_TEST

Suite *suite_defects(void)
{
    Suite *suite = suite_create("defects");
    TCase *c = tcase_create("defects");
    tcase_add_test(c, rows);
    tcase_add_test(c, files);
    suite_add_tcase(suite, c);
    return suite;
}
