#!/bin/sh
# embed.sh FILE.suite...: C source that holds each suite's text as `const char attest_suite_NAME[]`.
set -eu
echo '/* Made by verify/suites/embed.sh from verify/suites: do not edit. */'
for file in "$@"; do
    name=$(basename "$file" .suite)
    echo "extern const char attest_suite_$name[];"
    echo "const char attest_suite_$name[] ="
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$/\\n"/' "$file"
    echo '    "";'
done
