"""What a new axis value costs: feature=square, phi(x) = x^2, added to a copy of the sources.

    axis.py ROOT COPY

Copies the sources of ROOT to COPY and inserts each piece below at its anchor (which must occur exactly once): one row of
the axis table, one function and its row per engine, kernel step and bound.  Nothing else is touched.  A file of COPY is
written only where its text changes, so that a second run rebuilds nothing.  Prints each piece: file, lines, what it is.
"""
import os
import sys

FOLDERS = ["kernels", "reference", "props", "reports", "verify"]
SQUARE = "ATTEST_FEATURE_SQUARE"

# file, anchor, text instead of it, what it is
PIECES = [
    ("kernels/attest.h", "    ATTEST_FEATURE_COSFORMER = 6\n", "    ATTEST_FEATURE_COSFORMER = 6,\n    %s = 7\n" % SQUARE,
     "the value's number"),
    ("kernels/problem/variant_axes.c", "};\nstatic const attest_axis_value rope[] = {\n",
     '    PLAIN("square", %s, "phi(x) = x^2"),\n};\nstatic const attest_axis_value rope[] = {\n' % SQUARE,
     "the row of the axis"),
    ("reference/ball/ball_axes.c", "static const ref_ball_feature features[] = {\n",
     "static void feature_square(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)\n"
     "{\n    (void)position;\n    for (int64_t c = 0; c < p->d; c++)\n        arb_mul(y + c, x + c, x + c, prec);\n}\n\n"
     "static const ref_ball_feature features[] = {\n    [%s] = { feature_square, 0 },\n" % SQUARE,
     "ball engine: function and row"),
    ("reference/witness/witness_feature.c",
     "void wit_map(wit *x, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t pos)\n",
     "static void feature_square(wit *x)\n{\n    wit_mul(x, x, x);\n}\n\n"
     "void wit_map(wit *x, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t pos)\n",
     "witness: function"),
    ("reference/witness/witness_feature.c", "        [ATTEST_FEATURE_COSFORMER] = feature_relu,\n",
     "        [ATTEST_FEATURE_COSFORMER] = feature_relu,\n        [%s] = feature_square,\n" % SQUARE, "witness: row"),
    ("reference/witness/witness.c", "BIT(ATTEST_FEATURE_COSFORMER),\n", "BIT(ATTEST_FEATURE_COSFORMER) | BIT(%s),\n" % SQUARE,
     "witness: served"),
    ("reference/bound/bound_token.c", "int bound_feature(mag_t y, double x, uint32_t feature)\n",
     "static void feature_square(mag_t y, double x)\n{\n    mag_set_d(y, x);\n    mag_mul(y, y, y);\n}\n\n"
     "int bound_feature(mag_t y, double x, uint32_t feature)\n", "bound: size"),
    ("reference/bound/bound_token.c", "        [ATTEST_FEATURE_RELU] = feature_relu,\n",
     "        [ATTEST_FEATURE_RELU] = feature_relu,\n        [%s] = feature_square,\n" % SQUARE, "bound: row of sizes"),
    ("reference/bound/bound_model.c", "static void set_feature(bound_model *m)\n",
     "/* R-SQUARE: one product, of a number that was rounded before if it was narrowed. */\n"
     "static void feature_square(bound_model *m)\n{\n    bound_gamma(m->feature, m->narrows ? 3 : 1, m->u);\n"
     "    mag_add(m->feature_tiny, m->feature_tiny, m->tiny);\n}\n\nstatic void set_feature(bound_model *m)\n",
     "bound: error"),
    ("reference/bound/bound_model.c", "        [ATTEST_FEATURE_ELU1] = feature_elu1,\n",
     "        [ATTEST_FEATURE_ELU1] = feature_elu1,\n        [%s] = feature_square,\n" % SQUARE, "bound: row of errors"),
    ("reference/derivations.md", "**R-WEIGHT.**",
     "**R-SQUARE.** `phi(x) = x^2` is one product: relative error u (gamma_3 where x was rounded first), underflow eta.\n\n"
     "**R-WEIGHT.**", "the lemma"),
    ("kernels/cpu/steps/token.h", "/* y[dim] = phi(x[d]); y may be x.  NULL: phi(x) = x. */\n",
     "static inline void token_map_square(real *y, const real *x, const attest_problem *p, int64_t position)\n{\n"
     "    (void)position;\n    for (int64_t c = 0; c < p->d; c++)\n        y[c] = x[c] * x[c]; /* one rounding */\n}\n\n"
     "/* y[dim] = phi(x[d]); y may be x.  NULL: phi(x) = x. */\n", "kernels: function"),
    ("kernels/cpu/steps/token.h", "        [ATTEST_FEATURE_COSFORMER] = token_map_cosformer,\n",
     "        [ATTEST_FEATURE_COSFORMER] = token_map_cosformer,\n        [%s] = token_map_square,\n" % SQUARE, "kernels: row"),
    ("kernels/cpu/steps/serve.h", "SERVE_THROUGH(ATTEST_FEATURE_COSFORMER)", "SERVE_THROUGH(%s)" % SQUARE, "kernels: served"),
    ("kernels/cpu/steps/serve.h", '"silu-unit", "cosformer" } },', '"silu-unit", "cosformer", "square" } },', "kernels: name"),
]


def sources(root):
    for folder in FOLDERS:
        for here, folders, files in os.walk(os.path.join(root, folder)):
            folders.sort()
            for name in sorted(files):
                yield os.path.relpath(os.path.join(here, name), root)
    yield "Makefile"


def main():
    root, copy = sys.argv[1:3]
    text = {}
    for name in sources(root):
        with open(os.path.join(root, name), encoding="utf-8") as source:
            text[name] = source.read()
    for name, anchor, new, what in PIECES:
        if text[name].count(anchor) != 1:
            sys.exit("%s: the anchor of `%s` occurs %d times, not once" % (name, what, text[name].count(anchor)))
        text[name] = text[name].replace(anchor, new)
        print("%-32s %2d lines  %s" % (name, max(1, new.count("\n") - anchor.count("\n")), what))
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
            if name not in {piece[0] for piece in PIECES}: # unchanged: as old as its source
                stat = os.stat(os.path.join(root, name))
                os.utime(path, (stat.st_atime, stat.st_mtime))


if __name__ == "__main__":
    main()
