#!/bin/sh
# isa.sh MAKE BUILD: the instruction set of each object of kernels/fast is what the Makefile states, whatever else the
# compiler is told: all files of a kernel are compiled with -march=haswell and must export one name each, and no two the
# same.  A file that every CPU runs (its family's descriptor) is told of no extension, whatever its name ends with.  Exit 1
# if not; no-op where the compiler has no such CPU.
set -u
make=$1 build=$2/haswell
echo 'int x;' | ${CC:-cc} -march=haswell -x c -c -o /dev/null - 2>/dev/null || { echo "isa: not done: no -march=haswell"; exit 0; }
bad=0
for file in softmax/flash_bf16_portable softmax/flash_bf16_avx2 softmax/flash_bf16_avx512 softmax/flash_bf16_avx512bf16 \
    amx/flash_tiles_portable amx/flash_tiles_avx2 amx/flash_tiles_avx512 amx/flash_tiles_amx; do
    object=$build/kernels/fast/$file.o name=${file#*/}
    name=${name%_*}_run_${name##*_}
    $make --no-print-directory BUILD="$build" CFLAGS="-O0 -march=haswell" KERNEL_FLAGS="-O0 -ffp-contract=off" WERROR=1 "$object" >/dev/null || exit 1
    names=$(nm --defined-only "$object" | awk '$2 == "T" { print $3 }' | tr '\n' ' ')
    [ "$names" = "$name " ] || { echo "isa: $object: exports $names, not $name"; bad=1; }
done
for source in kernels/fast/*.c kernels/fast/*/*.c; do
    case $source in
    *_avx2.c | *_avx512.c | *_avx512bf16.c | *_amx.c) ;;
    *) $make --no-print-directory -n -B V=1 BUILD="$build" "$build/${source%.c}.o" 2>/dev/null | grep "$source" |
        grep -E -- '-m(avx|amx|fma)' >/dev/null && { echo "isa: $source is compiled for some CPUs only"; bad=1; } ;;
    esac
done
[ "$bad" = 0 ] && echo "isa: ok"
exit $bad
