/* test_fuzz.c - every harness over its corpus: what is kept there is taken or refused as ever, and the changes by
 * structure stay inside their buffers and give inputs that are taken. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "tests/fuzz/fuzz.h"

Suite *suite_fuzz(void);

#define READER(name) extern const fuzz_reader fuzz_##name;
#include "tests/fuzz/readers.h"
#undef READER

#define READER(name) &fuzz_##name,
static const fuzz_reader *const readers[] = {
#include "tests/fuzz/readers.h"
};
enum { READERS = sizeof readers / sizeof readers[0], FILE_MOST = 1 << 16, CORPUS_MOST = 25, CHANGES = 40 };

static uint8_t bytes[FILE_MOST], changed[FILE_MOST];

static size_t read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "%s cannot be read", path);
    const size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    return size;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* A file NAME.bad must be refused, any other one taken. */
START_TEST(a_corpus_is_taken_and_refused_as_its_names_say)
{
    const fuzz_reader *reader = readers[_i];
    char folder[512], path[1024];
    struct dirent **entries;
    int good = 0, bad = 0;
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", ATTEST_TEST_ROOT, reader->name);
    const int count = scandir(folder, &entries, visible, alphasort);
    ck_assert_msg(count > 0, "%s is empty", folder);
    ck_assert_msg(count <= CORPUS_MOST, "%s has more than %d files", folder, CORPUS_MOST);
    for (int k = 0; k < count; k++) {
        const char *end = strrchr(entries[k]->d_name, '.');
        const int wanted = !(end && strcmp(end, ".bad") == 0);
        snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        const size_t size = read_file(path);
        ck_assert_msg(reader->take(bytes, size) == wanted, "%s is %s", path, wanted ? "refused" : "taken");
        good += wanted;
        bad += !wanted;
        free(entries[k]);
    }
    free(entries);
    ck_assert_msg((good > 0 || reader->mutate) && bad > 0, "%s has %d good files, %d bad ones", folder, good, bad);
}
END_TEST

START_TEST(changes_by_structure_give_inputs_of_both_kinds)
{
    const fuzz_reader *reader = readers[_i];
    size_t size = 0;
    int taken = 0, refused = 0;
    if (!reader->mutate)
        return;
    for (unsigned seed = 1; seed <= CHANGES; seed++) {
        const size_t most = seed % 4 ? sizeof changed / 8 : 100;
        size = reader->mutate(changed, size < most ? size : most, most, seed);
        ck_assert_uint_le(size, most);
        (reader->take(changed, size) ? &taken : &refused)[0]++;
        if (seed % 8 == 0)
            size = 0;
    }
    ck_assert_msg(taken > 0 && refused > 0, "%s: %d of %d are taken", reader->name, taken, CHANGES);
}
END_TEST

/* Every text of a result, on a page: fuzz_report looks for elements that the page has not. */
START_TEST(texts_of_a_result_open_no_element)
{
    attest_result result;
    char *line = NULL;
    size_t size;
    attest_result_init(&result);
    for (size_t f = 0; f < attest_result_field_count; f++)
        if (attest_result_fields[f].type == ATTEST_FIELD_TEXT)
            snprintf((char *)&result + attest_result_fields[f].offset, attest_result_fields[f].size, "%s", "<script");
    for (result.verdict = 0; result.verdict < ATTEST_VERDICT_COUNT; result.verdict++) {
        FILE *out = open_memstream(&line, &size);
        ck_assert(out && attest_result_print_json(out, &result) == ATTEST_OK && fclose(out) == 0);
        ck_assert_int_eq(fuzz_report.take((const uint8_t *)line, size), 1);
        free(line);
    }
}
END_TEST

Suite *suite_fuzz(void)
{
    Suite *suite = suite_create("fuzz");
    TCase *c = tcase_create("fuzz");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, a_corpus_is_taken_and_refused_as_its_names_say, 0, READERS);
    tcase_add_loop_test(c, changes_by_structure_give_inputs_of_both_kinds, 0, READERS);
    tcase_add_test(c, texts_of_a_result_open_no_element);
    suite_add_tcase(suite, c);
    return suite;
}
