/* commands.c - the table of commands. */
#include "verify/commands/cli.h"

const attest_command attest_commands[] = {
    { "gate", "", 0, 0, "verify the built-in kernels (and plugins in kernels/) over a suite", attest_command_gate },
    { "audit", "[TARGET]", 0, 1, "verify built-in kernels or a library, and infer their arithmetic",
      attest_command_audit },
    { "reference", "", 0, 0, "print the truth of a problem with proven error", attest_command_reference },
    { "compare", "", 0, 0, "judge output tensors from files", attest_command_compare },
    { "export", "", 0, 0, "write a suite's inputs as files, for outputs made elsewhere (compare --batch)",
      attest_command_export },
    { "init-kernel", "NAME", 1, 1, "write a kernel that passes, to change, and print how to build and audit it",
      attest_command_init_kernel },
    { "replay", "LINE|FILE|ID|DIR", 1, 1, "run a kernel on a problem line or kept case, or a broken property again",
      attest_command_replay },
    { "study", "order|range|cost|length|state|denominator|filter|precision|position|dim", 1, 1,
      "measure error (and time) over a grid of orders, ranges, lengths, ..", attest_command_study },
    { "report", "[DIR]", 0, 1, "write DIR/index.html from the rows in DIR (default build/report)",
      attest_command_report },
    { "claims", "", 0, 0, "check the papers' statements with numbers; the ledger as a table", attest_command_claims },
    { "bench", "reference|kernels", 1, 1, "time engines, or kernels, side by side on problems", attest_command_bench },
    { "defects", "", 0, 0, "plant real bugs into correct kernels and show which checks catch them",
      attest_command_defects },
    { "search", "", 0, 0, "look for the inputs on which a kernel is at its worst", attest_command_search },
    { "props", "", 0, 0, "ask kernels on drawn cases what must hold for every input", attest_command_props },
    { "list", "kernels|variants|properties|families|claims|defects", 1, 1,
      "list kernels, variants, properties, families, claims, defects", attest_command_list },
};
const size_t attest_command_count = sizeof attest_commands / sizeof attest_commands[0];
