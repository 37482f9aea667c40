# lemmas.awk FILE.md: C source with the table attest_lemmas[] (reference/reference.h) of what the document states.
#
# An entry begins `**NAME.**` or `**NAME, NAME.**`, NAME = R-... (proved in the document) or C-... (cited).  Its
# statement is the rest of the paragraph, up to the next entry or to *Proof.*; a cited one ends with `*Source:* ...`.
# Exit 1 where an entry occurs twice, a cited one has no source, a proved one has one, or there is no entry at all.
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function trimmed(text) {
    gsub(/^[ .]+|[ ]+$/, "", text)
    return text
}
function complain(text) {
    print FILENAME ":" FNR ": " text > "/dev/stderr"
    bad = 1
}
# Prints the entry at hand, if there is one.
function finish(    list, count, k, at, source) {
    at = index(text, "*Proof.*")
    if (at)
        text = substr(text, 1, at - 1)
    at = index(text, "*Source:*")
    source = at ? trimmed(substr(text, at + 9)) : ""
    if (at)
        text = substr(text, 1, at - 1)
    count = split(names, list, ", ")
    for (k = 1; k <= count; k++) {
        if (list[k] in seen)
            complain(list[k] " is stated twice")
        if ((list[k] ~ /^C-/) != (source != ""))
            complain(list[k] ": C- has a source, R- has none")
        seen[list[k]] = 1
        entries++
        print "    { " quoted(list[k]) ", " quoted(section) ", " quoted(trimmed(text)) ", " quoted(source) " },"
    }
    names = text = ""
}
BEGIN {
    entry = "[*][*][RC]-[A-Z0-9-]+(, [RC]-[A-Z0-9-]+)*[.][*][*]"
    print "/* Made by lemmas.awk from derivations.md: do not edit. */"
    print "#include \"reference/reference.h\"\n\nconst attest_lemma attest_lemmas[] = {"
}
/^$/ || /^#/ {
    finish()
}
/^## / {
    section = substr($0, 4)
}
{
    line = $0
    while (match(line, entry)) {
        text = text " " substr(line, 1, RSTART - 1)
        next_names = substr(line, RSTART + 2, RLENGTH - 5)
        line = substr(line, RSTART + RLENGTH)
        finish()
        names = next_names
    }
    text = text " " line
}
END {
    finish()
    print "};\nconst size_t attest_lemma_count = sizeof attest_lemmas / sizeof attest_lemmas[0];"
    if (!entries)
        complain("no lemma in it")
    exit bad
}
