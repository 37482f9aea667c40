/* inputs.c - texts of options: `-t NAME=FILE`, --draw, --problem of `compare` and `reference`; --gate of `defects`;
 * targets of `audit`.  A line of the input is an option. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "verify/commands/inputs.h"
#include "verify/peer_gates/peer_gates.h"

static int is_small(const char *line)
{
    attest_error err;
    attest_case c;
    uint64_t bytes;
    int lowest, highest;
    return attest_case_parse(&c, line, NULL, NULL, &err) != ATTEST_OK ||
           (strncmp(c.family, "trace", 5) != 0 && attest_problem_memory(&c.problem, &bytes, &err) == ATTEST_OK &&
            bytes < 1 << 14 && (!attest_variant_degrees(c.problem.axis, &lowest, &highest) || highest < 4));
}

static int load(const attest_cli *cli)
{
    attest_bundle *inputs, *outputs;
    attest_case c;
    attest_error err;
    FUZZ_CHECK(attest_bundle_new(&inputs, &err) == ATTEST_OK && attest_bundle_new(&outputs, &err) == ATTEST_OK);
    const attest_status status = attest_inputs_load(&c, inputs, outputs, cli, &err);
    attest_bundle_free(inputs);
    attest_bundle_free(outputs);
    return status == ATTEST_OK ? 1 : fuzz_refused(status, &err);
}

static void parse_gate(const char *text)
{
    attest_peer_gate gates[ATTEST_PEER_COUNT];
    attest_error err;
    size_t count;
    const attest_status status = attest_peer_parse(gates, &count, text, &err);
    if (status != ATTEST_OK)
        fuzz_refused(status, &err);
    else
        FUZZ_CHECK(count >= 1 && count <= ATTEST_PEER_COUNT);
}

static void split(const char *text)
{
    char library[64], quoted[128];
    const char *kernel;
    attest_split_target(text, library, sizeof library, &kernel);
    FUZZ_CHECK(memchr(library, '\0', sizeof library));
    attest_shell_quote(quoted, sizeof quoted, text);
    FUZZ_CHECK(memchr(quoted, '\0', sizeof quoted));
}

static int take(const uint8_t *data, size_t size)
{
    attest_cli cli = { .command = "compare" };
    char *text = fuzz_text(data, size), *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "-t ", 3) == 0 && cli.tensor_count < 8)
            cli.tensor[cli.tensor_count++] = line + 3;
        else if (strncmp(line, "--draw=", 7) == 0)
            cli.draw = line + 7;
        else if (strncmp(line, "--gate=", 7) == 0)
            parse_gate(line + 7);
        else if (strncmp(line, "--problem=", 10) == 0)
            cli.problem = line + 10;
        else
            split(line);
    }
    const int taken = is_small(cli.problem) && load(&cli);
    free(text);
    return taken;
}

extern const fuzz_reader fuzz_inputs;
const fuzz_reader fuzz_inputs = { "inputs", take, NULL };
