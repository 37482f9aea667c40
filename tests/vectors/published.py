"""Reads a folder of published vectors of tensor cores (MATLAB-tensor-core, model_validation; LICENSE.mma).

    published.py FOLDER --compare PROGRAM      every set through PROGRAM (tests/vectors/compare.c); exit 1: one differs
    published.py FOLDER --excerpt OUT ROWS     the first ROWS of each set as a file of OUT, in the form of mma_rows.h

A set is four files TYPE_a_GPU_TYPE.txt, TYPE_b_.., TYPE_c_GPU_fp32.txt, TYPE_d_GPU_fp32.txt or _fp16.txt, perhaps .gz,
one row a line: a and b as the bits of floats in hex, c and d in binary.  Types without a row in the model are named and
left out.
"""
import argparse
import glob
import gzip
import os
import re
import struct
import subprocess
import sys

TYPES = {'bf16': 'bf16', 'fp16': 'f16', 'tf32': 'tf32', 'fp32': 'f32'}


def lines(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rt') as file:
        return [line.split() for line in file if line.strip()]


def word(kind, text):
    """An entry of a or b, given as a float's bits, in the digits of its type; it must be a number of that type."""
    bits = int(text, 16)
    if kind == 'bf16':
        if bits & 0xffff:
            sys.exit(f'{text} is no bf16 number')
        return f'{bits >> 16:04x}'
    if kind == 'fp16':
        value = struct.unpack('<f', struct.pack('<I', bits))[0]
        half = struct.pack('<e', value)
        if struct.unpack('<e', half)[0] != value:
            sys.exit(f'{text} is no f16 number')
        return f'{struct.unpack("<H", half)[0]:04x}'
    return f'{bits:08x}'


def rows(kind, files):
    parts = [lines(path) for path in files]
    if len({len(part) for part in parts}) != 1:
        sys.exit(f'{files[3]}: not as many rows as the others')
    for a, b, c, d in zip(*parts):
        entries = [word(kind, text) for text in a] + [word(kind, text) for text in b]
        yield len(a), ' '.join(entries + [f'{int(c[0], 2):08x}', f'{int(d[0], 2):08x}'])


def sets(folder):
    """(kind, gpu, output, files) of each set of the folder."""
    for path in sorted(glob.glob(os.path.join(folder, '*_d_*.txt*'))):
        match = re.fullmatch(r'(\w+)_d_(\w+)_(fp32|fp16)\.txt(\.gz)?', os.path.basename(path))
        if not match:
            continue
        kind, gpu, output, packed = match.groups()
        end = f'.txt{packed or ""}'
        files = [os.path.join(folder, f'{kind}_{part}_{gpu}_{of}{end}')
                 for part, of in (('a', kind), ('b', kind), ('c', 'fp32'))] + [path]
        yield kind, gpu.lower(), output, files


def text(kind, gpu, output, files, most=None):
    found = list(rows(kind, files))[:most]
    head = f'# set: {gpu} {TYPES[kind]} {TYPES[output]} {found[0][0]}\n'
    return head, ''.join(row + '\n' for _, row in found), len(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('--compare')
    parser.add_argument('--excerpt', nargs=2)
    arguments = parser.parse_args()
    wrong = count = 0
    for kind, gpu, output, files in sets(arguments.folder):
        if kind not in TYPES:
            print(f'{gpu} {kind}: not modelled')
            continue
        if arguments.excerpt:
            out, most = arguments.excerpt
            head, body, kept = text(kind, gpu, output, files, int(most))
            with open(os.path.join(out, f'mma_{gpu}_{TYPES[kind]}_{TYPES[output]}.txt'), 'w') as file:
                file.write(f"# Rows of products on NVIDIA's {gpu.upper()}: the first {kept} of the published vectors.\n"
                           '# Source: github.com/north-numerical-computing/MATLAB-tensor-core, model_validation '
                           '(commit b12b5a7);\n# Copyright (c) 2025, Faizan A. Khattak and Mantas Mikaitis; BSD 2-Clause '
                           'License: LICENSE.mma.\n' + head + body)
        else:
            head, body, _ = text(kind, gpu, output, files)
            wrong += subprocess.run([arguments.compare], input=head + body, text=True).returncode != 0
        count += 1
    if not count:
        sys.exit(f'{arguments.folder}: no set of vectors')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
