#!/bin/sh
# embed.sh FILE...: C source that holds the text of NAME.suite as `const char attest_suite_NAME[]`, and that of another
# file NAME.EXT as attest_text_NAME_EXT[].
set -eu
echo '/* Made by verify/suites/embed.sh from verify/suites: do not edit. */'
for file in "$@"; do
    name=$(basename "$file")
    case $name in
        *.suite) name=attest_suite_${name%.suite} ;;
        *) name=attest_text_$(echo "$name" | tr . _) ;;
    esac
    echo "extern const char $name[];"
    echo "const char $name[] ="
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$/\\n"/' "$file"
    echo '    "";'
done
