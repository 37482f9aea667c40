"""What a new axis value costs: feature=square, phi(x) = x^2, added to a copy of the sources.

    axis.py ROOT BUILD COPY

Copies the sources of ROOT to COPY and inserts each piece below at its anchor (which must occur exactly once): the value's
number, its row of the axis table, its row and functions in reference/axis/, its lemma, its function in the witness and in
the kernels.  Nothing else is touched.  A file of COPY is written only where its text changes, so that a second run
rebuilds nothing; one that ROOT no longer has is removed.  Prints each piece: file, lines, what it is; then how many
pieces in how many files.

COPY/build gets what BUILD holds of each source that reads none of the changed files: it would be compiled to the same.
kernels/attest.h, which nearly all read, is not counted: one more name in an enum changes only what uses the name.
"""
import os
import re
import shutil
import sys

FOLDERS = ["kernels", "reference", "props", "reports", "verify"]
SQUARE = "ATTEST_FEATURE_SQUARE"


def numbered(found):
    """The enum of features, with one more than its largest number at its end."""
    largest = max(int(number) for number in re.findall("= ([0-9]+)", found[0]))
    return "%s, %s = %d };\n" % (found[0][:-len(" };\n")], SQUARE, largest + 1)


# file, anchor, text instead of it (a function of the match: the anchor is a regular expression), what it is
PIECES = [
    ("kernels/attest.h", r"enum \{ ATTEST_FEATURE_SILU = [^}]* \};\n", numbered, "the value's number"),
    ("kernels/problem/variant_axes.c", "};\nstatic const attest_axis_value rope[] = {\n",
     '    PLAIN("square", %s, "phi(x) = x^2"),\n};\nstatic const attest_axis_value rope[] = {\n' % SQUARE,
     "the row of the axis"),
    ("reference/axis/feature.c", "/* ---- the rows ", """\
static void ball_square(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    for (int64_t c = 0; c < p->d; c++)
        arb_mul(y + c, x + c, x + c, prec);
}

/* ---- the rows """, "reference: in balls"),
    ("reference/axis/feature.c", "/* ---- the rows ", """\
/* The grid holds x too. */
static int span_square(exact_span *s)
{
    s->low = 2 * s->low < s->low ? 2 * s->low : s->low;
    s->top = 2 * s->top > s->top ? 2 * s->top : s->top;
    return 1;
}

/* ---- the rows """, "reference: the grid of exact numbers"),
    ("reference/axis/feature.c", "/* ---- the rows ", """\
static void integer_square(mpz_t x, long low)
{
    mpz_mul(x, x, x);
    mpz_mul_2exp(x, x, low > 0 ? (mp_bitcnt_t)low : 0);
    mpz_tdiv_q_2exp(x, x, low < 0 ? (mp_bitcnt_t)-low : 0); /* exact: x^2 is on the grid */
}

/* ---- the rows """, "reference: in integers"),
    ("reference/axis/feature.c", "/* ---- the rows ", """\
static int64_t word_square(int64_t x, long low)
{
    __extension__ const __int128 y = (__int128)x * x;
    return (int64_t)(low < 0 ? y >> -low : y << low);
}

static const axis_exact_feature exact_square = { span_square, integer_square, word_square };

/* ---- the rows """, "reference: in words"),
    ("reference/axis/feature.c", "/* ---- the rows ", """\
static double size_square(double x) { return x * x * (1 + 0x1p-52) + 0x1p-1074; }

/* ---- the rows """, "reference: size"),
    ("reference/axis/feature.c", "/* ---- the rows ", """\
/* R-SQUARE: one product, of a number that was rounded before if it was narrowed. */
static void error_square(mag_t relative, mag_t absolute, const axis_arithmetic *a)
{
    bound_gamma(relative, a->narrows ? 3 : 1, a->u);
    mag_add(absolute, absolute, a->tiny);
}

/* ---- the rows """, "reference: error"),
    ("reference/axis/feature.c", "static const axis_feature features[] = {\n", """\
static const axis_feature features[] = {
    [%s] = { .lemma = "R-SQUARE", .ball = ball_square, .exact = &exact_square,
                                .size = size_square, .error = error_square },
""" % SQUARE, "reference: row"),
    ("reference/derivations.md", "**R-WEIGHT.**",
     "**R-SQUARE.** `phi(x) = x^2` is one product: relative error u (gamma_3 where x was rounded first), underflow eta.\n\n"
     "**R-WEIGHT.**", "the lemma"),
    ("reference/witness/witness_feature.c", "static void (*const map[])(wit *) = {\n",
     "static void feature_square(wit *x)\n{\n    wit_mul(x, x, x);\n}\n\nstatic void (*const map[])(wit *) = {\n"
     "    [%s] = feature_square,\n" % SQUARE, "witness: function and row"),
    ("kernels/cpu/steps/token.h", "/* y[dim] = phi(x[d]); y may be x.  NULL: phi(x) = x. */\n",
     "static inline void token_map_square(real *y, const real *x, const attest_problem *p, int64_t position)\n{\n"
     "    (void)position;\n    for (int64_t c = 0; c < p->d; c++)\n        y[c] = x[c] * x[c]; /* one rounding */\n}\n\n"
     "/* y[dim] = phi(x[d]); y may be x.  NULL: phi(x) = x. */\n", "kernels: function"),
    ("kernels/cpu/steps/token.h", "    static token_map *const maps[] = {\n",
     "    static token_map *const maps[] = {\n        [%s] = token_map_square,\n" % SQUARE, "kernels: row"),
    ("kernels/cpu/steps/token.h", r"TOKEN_LAST_FEATURE = \w+", lambda found: "TOKEN_LAST_FEATURE = " + SQUARE,
     "kernels: served"),
]


def sources(root):
    for folder in FOLDERS:
        for here, folders, files in os.walk(os.path.join(root, folder)):
            folders.sort()
            for name in sorted(files):
                if name.endswith(".png"):
                    continue
                yield os.path.relpath(os.path.join(here, name), root)
    yield "Makefile"


def objects(build, changed):
    """Objects below `build`, and what is made on the way to them, that the changed files are no part of."""
    for folder in FOLDERS:
        for here, folders, files in os.walk(os.path.join(build, folder)):
            if folder == "kernels": # libraries of their own
                folders[:] = [name for name in folders if name not in ("defects", "cuda")]
            for name in files:
                stem, kind = os.path.splitext(os.path.join(here, name))
                if kind not in (".o", ".c", "") or os.path.basename(stem) == "lemmas": # of derivations.md
                    continue
                if os.path.exists(stem + ".d"):
                    with open(stem + ".d", encoding="utf-8") as reads:
                        if changed & set(reads.read().split()):
                            continue
                yield os.path.relpath(os.path.join(here, name), build)
    yield "suites_data.c"
    yield "suites_data.o"


def as_old(source, target):
    times = os.stat(source)
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def give(source, target):
    """`target` is `source`, and as old."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not os.path.exists(target) or os.stat(target).st_mtime_ns != os.stat(source).st_mtime_ns:
        shutil.copy2(source, target)


def main():
    root, build, copy = sys.argv[1:4]
    text = {}
    for name in sources(root):
        with open(os.path.join(root, name), encoding="utf-8") as source:
            text[name] = source.read()
    for name, anchor, new, what in PIECES:
        found = list(re.finditer(anchor if callable(new) else re.escape(anchor), text[name]))
        if len(found) != 1:
            sys.exit("%s: the anchor of `%s` occurs %d times, not once" % (name, what, len(found)))
        old, put = found[0][0], new(found[0]) if callable(new) else new
        text[name] = text[name][:found[0].start()] + put + text[name][found[0].end():]
        print("%-38s %2d lines  %s" % (name, max(1, put.count("\n") - old.count("\n")), what))
    print("%d pieces in %d files" % (len(PIECES), len({piece[0] for piece in PIECES})))
    changed = {piece[0] for piece in PIECES} - {"kernels/attest.h"}
    for name in set(sources(copy)) - set(text):
        if os.path.exists(os.path.join(copy, name)):
            os.remove(os.path.join(copy, name))
    for name, content in text.items():
        path = os.path.join(copy, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as target:
                old = target.read()
        if old != content:
            with open(path, "w", encoding="utf-8") as target:
                target.write(content)
        if name not in changed:
            as_old(os.path.join(root, name), path)
    for name in objects(build, changed):
        give(os.path.join(build, name), os.path.join(copy, "build", name))


if __name__ == "__main__":
    main()
