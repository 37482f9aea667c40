#!/bin/sh
# layers.sh: the include rules of ARCHITECTURE.md, one line a rule; prints every breach, exit 1 if any.
set -u
cd "$(dirname "$0")/../.."
bad=0
# forbid WHERE PATTERN RULE: no #include matching PATTERN (extended regexp) in files under WHERE.
forbid() {
    found=$(grep -rnE --include='*.c' --include='*.h' --include='*.cu' "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" $1 2>/dev/null)
    if [ -n "$found" ]; then
        echo "layers: $3"
        echo "$found" | sed 's/^/    /'
        bad=1
    fi
}
big='mpfr|gmp|arb|arf|mag|flint|fmpz|fmpq|acb'
forbid kernels "reference/|props/|verify/|reports/|tests/|$big|jansson|gsl" "kernels/ includes nothing above it and no big numbers"
forbid 'kernels/cpu kernels/cuda kernels/model kernels/template kernels/yardstick kernels/vendor kernels/defects' 'kernels/' "a kernel includes attest.h, attest_float.h and its own folder's step headers only"
forbid reference 'verify/|props/|reports/|tests/|kernels/(cpu|cuda|vendor|yardstick|model|registry|plugin)|jansson|gsl' "reference/ sees no kernel, no libm, nothing above it"
forbid reference/axis 'reference/(ball|exact|bound|judge|truth|dd|witness|evidence|identities|yardstick)/' "axis/ is below all who call its rows"
forbid reference/witness 'reference/(axis|ball|exact|bound|judge|truth|dd)/' "the witness shares nothing with the other engines"
forbid reference/ball 'reference/(exact|bound|judge|truth)/' "the ball engine knows axis/ and engine/ only"
forbid reference/exact 'reference/(ball|bound|judge|truth)/' "the exact engine knows axis/ and engine/ only"
forbid reference/bound 'reference/(ball|exact|judge|truth)/' "bounds know axis/ and engine/ only"
forbid props "reference/|verify/|reports/|tests/|$big|jansson|kernels/(cpu|cuda|registry|plugin)" "props/ includes kernels' base headers and gsl"
forbid reports "reference/|props/|verify/|tests/|$big|kernels/(cpu|cuda|registry|plugin|tensor|problem|variant|npy)" "reports/ reads rows only"
forbid verify "tests/|$big" "verify/ sees no big number"
forbid verify/worker/worker_main.c 'reference/|props/|reports/|verify/(suite|compare|cli)' "the worker links kernels only"
# reference/ never calls libm: no such symbol in its objects (math.h only gives it INFINITY and NAN).
build=${BUILD:-build}
if ls "$build"/reference/*.o >/dev/null 2>&1; then
    calls=$(nm -u "$build"/reference/*.o | grep -E ' U (exp|log|sqrt|pow|tanh|sin|cos|ldexp|frexp|scalb|nextafter|fma|rint|floor|ceil|round|cbrt|erf|expm1|log1p|exp2|log2|log10)[fl]?$')
    if [ -n "$calls" ]; then
        echo "layers: reference/ never calls libm"
        echo "$calls" | sed 's/^/    /'
        bad=1
    fi
fi
[ "$bad" = 0 ] && echo "layers: ok"
exit $bad
