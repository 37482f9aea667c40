#!/bin/sh
# style.sh: what a reader relies on: files under 500 lines, functions under 60, no tabs, no long lines, no
# machine paths, no leftovers.  Prints every breach, exit 1 if any.
set -u
cd "$(dirname "$0")/../.."
bad=0
say() { [ -n "$2" ] && { echo "style: $1"; echo "$2" | head -n 20 | sed 's/^/    /'; bad=1; }; }
files=$(find kernels reference props verify reports tests -name '*.c' -o -name '*.h' -o -name '*.cu' | sort)
say "files of at most 500 lines" "$(wc -l $files | awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines" }')"
say "lines of at most 120 columns" "$(awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }' $files)"
say "no tabs, no trailing blanks" "$(grep -nP '\t|[ ]+$' $files | cut -c1-100)"
say "no leftovers" "$(grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $files | cut -c1-120)"
say "functions of at most 60 lines" "$(awk '
    FNR == 1 { start = 0 }
    /^[A-Za-z_].*[(]/ && !/;[[:space:]]*$/ { name = $0 }
    /^{/ { start = FNR }
    /^}/ { if (start && FNR - start - 1 > 60 && name != "") print FILENAME ":" start ": " FNR - start - 1 " lines: " name; start = 0; name = "" }
    /^[A-Za-z_].*{[[:space:]]*$/ && !/^(struct|typedef|static const|const|enum|extern)/ { start = FNR }
' $files)"
say "no machine paths" "$(grep -rnIE '(^|[^a-z.])/(home|root|work)/' README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md Makefile .ci $files 2>/dev/null | cut -c1-120)"
[ "$bad" = 0 ] && echo "style: ok"
exit $bad
