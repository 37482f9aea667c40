#!/bin/sh
# A kernel behind `attest audit --exec 'sh examples/doors/softmax.sh'`: softmax attention by awk, in double precision.
numbers() { od -An -v -tf4 -w4 -j128 "$1"; }  # a .npy of f32 has its numbers behind 128 bytes

attend() {  # the problem's words, as shell variables; one number a line out
    { numbers "$dir/q.npy"; numbers "$dir/k.npy"; numbers "$dir/v.npy"; } |
    awk -v b="$b" -v hq="$hq" -v hkv="$hkv" -v n="$n" -v m="$m" -v d="$d" -v e="$e" -v scale="$scale" '
    { x[NR - 1] = $1 }
    END {
        k0 = b * hq * n * d; v0 = k0 + b * hkv * m * d
        for (row = 0; row < b * hq * n; row++) {
            h = int(row / n) % hq; g = int(int(row / n) / hq) * hkv + int(h * hkv / hq); top = -1e300; l = 0
            for (j = 0; j < m; j++) {
                s[j] = 0
                for (c = 0; c < d; c++) s[j] += x[row * d + c] * x[k0 + (g * m + j) * d + c]
                s[j] *= scale; if (s[j] > top) top = s[j]
            }
            for (j = 0; j < m; j++) { w[j] = exp(s[j] - top); l += w[j] }
            for (c = 0; c < e; c++) {
                o = 0
                for (j = 0; j < m; j++) o += w[j] * x[v0 + (g * m + j) * e + c]
                printf "%.17g\n", o / l
            }
        }
    }'
}

echo "attest 1 name=awk-softmax schedule=two-pass flags=deterministic"
while read -r verb words; do  # run dir=DIR outputs=o b=1 hq=2 hkv=1 n=9 ..
    for word in $words; do export "${word?}"; done
    attend > "$dir/o.txt" && echo ok || echo "$verb failed" | sed 's/^/error /'
done
