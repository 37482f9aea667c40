"""fingerprints.py --nvcc NVCC [--write] [--targets LIST] [FILE.cu ..]: what nvcc makes of the CUDA kernels, against
fingerprints.txt beside this file, one line a difference.

    ptx    of each __global__ function: `free`, products and sums of f32 that nvcc may contract (those that vanish or
           change with -fmad=false, and mul, add, sub without a rounding), and `approx`, approximate instructions.
           Where neither is there, every operation is named, and bits can be predicted: a source file with any must
           have a kernel in beyond[] of verify/exchange/predict.c, one without must have none.
    sm_..  registers and spilled bytes as ptxas tells them; counts of SASS instructions, where nvdisasm is found: beside
           nvcc, on the PATH, or by $NVDISASM (PyPI: nvidia-cuda-nvdisasm).  mufu: also those of divisions.

Exit code 0: equal; 1: differences; 77: nothing was compared, because the table is of another nvcc, or there is none.
Without nvdisasm it says that SASS was not compared.  --write makes the table anew (a folder's worth of --targets at a
time, the others stay): read its diff before you commit it."""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../.."))
TABLE = os.path.join(HERE, "fingerprints.txt")
FLAGS = ["-std=c++17", "-O2", "-Ikernels"]
TARGETS = "sm_80,sm_89,sm_90,sm_100,sm_120"  # of A100; L40S, RTX 40; H100, H200; B200; RTX 50
SASS = {"mma": r"[HIDQ]MMA|\w*GMMA|UTC\w*MMA", "mufu": "MUFU", "fma": "FFMA2?", "mul": "FMUL2?", "add": "FADD2?",
        "max": r"FMNMX\w*", "cast": r"F2FP?", "bar": "BAR", "ldsm": "LDSM", "copy": "LDGSTS", "shfl": "SHFL"}
APPROX = r"(?:ex2|lg2|sin|cos|tanh|rcp|rsqrt|sqrt|div)\.(?:approx|full)"
FREE = r"(?:mul|add|sub)\.(?:ftz\.)?f32"


def call(words):
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"fingerprints: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


def version_of(nvcc):
    return re.search(r"V(\d+\.\d+\.\d+)", call([nvcc, "--version"])[0])[1]


def readable(mangled):
    """{mangled: `flash<warp::bf16,64>`}"""
    if not mangled:
        return {}
    lines = call(["c++filt", *mangled])[0].splitlines()
    short = {}
    for name, text in zip(mangled, lines):
        text = text.replace("(anonymous namespace)::", "").replace("void ", "")
        depth, end = 0, len(text)
        for at, letter in enumerate(text):
            depth += (letter == "<") - (letter == ">")
            if letter == "(" and depth == 0:
                end = at
                break
        short[name] = text[:end].replace(" ", "")
    return short


def functions_of_ptx(text):
    """{mangled: body} of the entries."""
    return {m[1]: m[2] for m in re.finditer(r"\.entry (\w+)\(.*?^\{(.*?)^\}", text, re.S | re.M)}


def count(pattern, text):
    return len(re.findall(r"(?<![\w.])(?:%s)(?![\w])" % pattern, text))


def ptx_rows(nvcc, source, work):
    """{(function, `ptx`): {free, approx}}"""
    bodies = []
    for name, extra in (("plain", []), ("apart", ["-fmad=false"])):
        out = os.path.join(work, f"{os.path.basename(source)}.{name}.ptx")
        call([nvcc, *FLAGS, *extra, "-arch=compute_90", "-ptx", "-o", out, source])
        with open(out, encoding="utf-8") as file:
            bodies.append(functions_of_ptx(file.read()))
    plain, apart = bodies
    names = readable(sorted(plain))
    rows = {}
    for name, body in plain.items():
        fused = abs(count(r"fma\.rn\.f32", body) - count(r"fma\.rn\.f32", apart[name]))
        rows[names[name], "ptx"] = {"free": fused + count(FREE, body), "approx": count(APPROX + r"[\w.]*", body)}
    return rows


def resources(text):
    """{mangled: {regs, spills}} of ptxas -v."""
    found = {}
    pattern = (r"Function properties for (\w+)\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads"
               r".*?Used (\d+) registers")
    for m in re.finditer(pattern, text, re.S):
        found[m[1]] = {"regs": int(m[4]), "spills": int(m[2]) + int(m[3])}
    return found


def sass_counts(text):
    """{mangled: counts} of nvdisasm."""
    found = {}
    for part in re.split(r"^\s*\.section\s+\.text\.", text, flags=re.M)[1:]:
        name = re.match(r"(\w+)", part)[1]
        ops = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(\w+)", part.split("\n\t.section\t")[0], re.M)
        if not ops:
            sys.exit(f"fingerprints: no instruction of {name} was read: nvdisasm prints another form")
        found[name] = {"all": len(ops)}
        for key, pattern in SASS.items():
            found[name][key] = sum(re.fullmatch(pattern, op) is not None for op in ops)
    return found


def target_rows(nvcc, nvdisasm, source, target, work):
    out = os.path.join(work, f"{os.path.basename(source)}.{target}.cubin")
    said = call([nvcc, *FLAGS, "-Xptxas", "-v", f"-arch={target}", "-cubin", "-o", out, source])[1]
    found = resources(said)
    if nvdisasm:
        for name, counts in sass_counts(call([nvdisasm, "-c", out])[0]).items():
            if name in found:
                found[name].update(counts)
    names = readable(sorted(found))
    return {(names[name], target): values for name, values in found.items()}


def measure(nvcc, nvdisasm, sources, targets):
    """{(file, function, target): values}"""
    rows = {}
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(s, pool.submit(ptx_rows, nvcc, s, work)) for s in sources]
        jobs += [(s, pool.submit(target_rows, nvcc, nvdisasm, s, t, work)) for s in sources for t in targets]
        for source, job in jobs:
            for (function, target), values in job.result().items():
                rows[os.path.basename(source), function, target] = values
    return rows


def write(path, version, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# What nvcc {version} makes of kernels/cuda/*.cu: fingerprints.py says what the columns are.\n")
        for (source, function, target), values in sorted(rows.items()):
            file.write(f"{source} {function} {target} {' '.join(f'{k}={v}' for k, v in values.items())}\n")


def read(path):
    """Version and rows of a table."""
    version, rows = None, {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = re.match(r"# What nvcc (\S+) makes", line)
            version = found[1] if found else version
            if line.startswith("#"):
                continue
            words = line.split()
            try:
                rows[tuple(words[:3])] = {k: int(v) for k, v in (word.split("=") for word in words[3:])}
            except ValueError:
                sys.exit(f"{path}:{number}: not `FILE FUNCTION TARGET key=number ..`")
    return version, rows


def differences(kept, rows, files, targets):
    """A line each, of these files and targets; figures that one side lacks (no nvdisasm) are not compared."""
    said = []
    mine = {k: v for k, v in kept.items() if k[0] in files and k[2] in targets + ["ptx"]}
    for key in sorted(set(mine) | set(rows)):
        name = "{} {} {}".format(*key)
        if key not in mine:
            said.append(f"{name}: not in the table")
        elif key not in rows:
            said.append(f"{name}: in the table, and no longer there")
        else:
            for figure, was in mine[key].items():
                now = rows[key].get(figure, was)
                if now != was:
                    said.append(f"{name}: {figure} {was} -> {now}")
    return said


def unnamed(rows, files):
    """Where predict.c and what nvcc is free to choose contradict each other; a line each."""
    with open(os.path.join(ROOT, "verify/exchange/predict.c"), encoding="utf-8") as file:
        table = re.search(r"\} beyond\[\] = \{(.*?)^\};", file.read(), re.S | re.M)[1]
    beyond = re.findall(r'\{ "([\w-]+)"', table)
    said = []
    for source in files:
        with open(os.path.join(ROOT, "kernels/cuda", source), encoding="utf-8") as file:
            text = file.read()
        told = [kernel for kernel in beyond if f'"{kernel}"' in text]
        free = [f"{key[1]}: {v}" for key, v in sorted(rows.items())
                if key[0] == source and key[2] == "ptx" and any(v.values())]
        if free and not told:
            said.append(f"{source}: operations that are not named, and no kernel of it in beyond[]: {free[0]}")
        if told and not free:
            said.append(f"{source}: {told[0]} is in beyond[], and every operation is named")
    return said


def find_nvdisasm(nvcc):
    beside = os.path.join(os.path.dirname(nvcc), "nvdisasm")
    given = os.environ.get("NVDISASM")
    return given or (beside if os.path.exists(beside) else shutil.which("nvdisasm"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", default=TABLE)
    parser.add_argument("--targets", default=TARGETS)
    parser.add_argument("sources", nargs="*")
    given = parser.parse_args()
    if not given.nvcc or not os.path.exists(given.nvcc):
        print("fingerprints: not compared: no nvcc")
        return 77
    version, nvdisasm = version_of(given.nvcc), find_nvdisasm(given.nvcc)
    folder = os.path.join(ROOT, "kernels/cuda")
    sources = given.sources or sorted(f"kernels/cuda/{n}" for n in os.listdir(folder) if n.endswith(".cu"))
    files, targets = [os.path.basename(s) for s in sources], given.targets.split(",")
    known, kept = read(given.table) if os.path.exists(given.table) else (None, {})
    if not given.write and known != version:
        print(f"fingerprints: not compared: the table is of nvcc {known}, here is {version}")
        return 77
    rows = measure(given.nvcc, nvdisasm, sources, targets)
    said = unnamed(rows, files)
    if given.write:
        if not nvdisasm:
            sys.exit("fingerprints: --write needs nvdisasm: a table without SASS would compare less")
        others = {k: v for k, v in kept.items() if k not in rows and known == version
                  and not (k[0] in files and k[2] in targets + ["ptx"])}
        write(given.table, version, {**others, **rows})
    else:
        said += differences(kept, rows, files, targets)
    for line in said:
        print("fingerprints: " + line)
    if not nvdisasm:
        print("fingerprints: counts of SASS were not compared: no nvdisasm")
    if not said:
        print(f"fingerprints: {len(rows)} rows {'written' if given.write else 'as the table has them'}, nvcc {version}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
