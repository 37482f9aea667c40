"""attest.h as it could have been before, or could be later: for libraries of another year than the host.

    headers.py old|new HEADER

`old` lacks the last fields of the structs, the last axis, the last roles and types.  `new` has two fields more at the end
of every struct, an axis, a role, and a bit more in each set of bits; ATTEST_TEST_NEW tells it apart.
"""
import re
import sys

# struct, the first field or comment that `old` lacks
CUT = [
    ("attest_problem", "    int64_t chunk, splits;"),
    ("attest_tensors", "    const attest_tensor *const *grad;"),
    ("attest_numerics", "    double score_unit;"),
    ("attest_limits", "    attest_limit b, hq, hkv, n, m, d, e;"),
    ("attest_kernel", "    const attest_limits *limits;"),
    ("attest_library", "    /* NULL, or: called once"),
]
# enum, the first constant that `old` lacks, the one that counts
FEWER = [
    ("attest_axis", "ATTEST_AXIS_ATTN_MASK", "ATTEST_AXIS_COUNT"),
    ("attest_role", "ATTEST_MASK", "ATTEST_ROLE_COUNT"),
    ("attest_dtype", "ATTEST_I32", "ATTEST_DTYPE_COUNT"),
]
MORE = [("ATTEST_AXIS_COUNT", "ATTEST_TEST_AXIS"), ("ATTEST_ROLE_COUNT", "ATTEST_TEST_ROLE")]
BITS = [("ATTEST_FLAGS_KNOWN", "ATTEST_TEST_FLAG", 1 << 10), ("ATTEST_OUTPUTS_KNOWN", "ATTEST_TEST_OUTPUT", 1 << 7),
        ("ATTEST_NEEDS_KNOWN", "ATTEST_TEST_NEED", 1 << 1)]


def once(text, old, new):
    if text.count(old) != 1:
        sys.exit("headers.py: `%s` occurs %d times, not once" % (old, text.count(old)))
    return text.replace(old, new)


def number(text, name):
    return int(re.search(r"\b%s = (\d+)" % name, text).group(1))


def older(text):
    for struct, first in CUT:
        end = "} %s;" % struct
        begin = text.index("typedef struct %s {" % struct)
        at, stop = text.index(first, begin), text.index(end, begin)
        kept = "    attest_limit b, hq, hkv, n, m;\n" if struct == "attest_limits" else ""
        text = text[:at] + kept + text[stop:]
    for enum, first, count in FEWER:
        begin = text.index("typedef enum %s {" % enum)
        at, stop = text.index("%s = " % first, begin), text.index("    %s = " % count, begin)
        value = number(text[at:], first)
        text = text[:at] + re.sub(r"= \d+", "= %d" % value, text[stop:], count=1)
    return text


def newer(text):
    text = re.sub(r"\n\} (attest_(?!setting|limit;)\w+);",
                  r"\n    int64_t later_number;\n    const void *later_pointer;\n} \1;",
                  text_of_structs(text))
    for count, name in MORE:
        value = number(text, count)
        text = re.sub(r"    %s = \d+" % count, "    %s = %d,\n    %s = %d" % (name, value, count, value + 1), text)
    for known, name, bit in BITS:
        value = int(re.search(r"%s = (0x[0-9a-f]+)u" % known, text).group(1), 16)
        text = re.sub(r"    %s = 0x[0-9a-f]+u" % known, "    %s = %du,\n    %s = 0x%xu" % (name, bit, known, value | bit),
                      text)
    return once(text, "#define ATTEST_H\n", "#define ATTEST_H\n#define ATTEST_TEST_NEW 1\n")


def text_of_structs(text):
    """Ends of enums get a mark, so that only structs grow."""
    marked = re.sub(r"(typedef enum (attest_\w+) \{.*?)\n\} \2;", r"\1\n}  \2;", text, flags=re.S)
    return marked


def main():
    with open(sys.argv[2], encoding="utf-8") as header:
        text = header.read()
    print({"old": older, "new": newer}[sys.argv[1]](text), end="")


main()
