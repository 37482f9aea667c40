"""test_day.py BUILD: day.py without a GPU and with the CPU in place of one; and what fingerprints.py reads and tells."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import day as one_day  # noqa: E402
import fingerprints  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
LINE = "variant=softmax n=20 d=64 in=f16 p=f16 out=f32\n"  # served by one kernel; its bits tell GPUs apart
STEPS = ["provenance", "ex2", "mma", "predict", "gate", "bits", "sanitize", "times"]


def day(out, code, *words):
    """What it says, a dictionary of steps, and the lines at its end."""
    env = {**os.environ, "PATH": "/usr/bin:/bin"}  # no nvidia-smi, no compute-sanitizer
    done = subprocess.run([sys.executable, os.path.join(HERE, "day.py"), "--build", BUILD, "--out", out, *words], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    lines = [line[len("gpu-day: "):] for line in done.stdout.splitlines()]
    steps = dict(line.split(": ", 1) for line in lines[1:1 + len(STEPS)])
    assert list(steps) == STEPS, steps
    return steps, lines[1 + len(STEPS):]


def check_every_source():
    """A source without a line for the sanitizers, or without rows in the table, is a source that nobody looks at."""
    sources = {name[:-3] for name in os.listdir(os.path.join(fingerprints.ROOT, "kernels/cuda")) if name.endswith(".cu")}
    assert set(one_day.SMALL) == sources and set(one_day.LARGE) <= sources, sources ^ set(one_day.SMALL)
    table = fingerprints.read(fingerprints.TABLE)[1]
    assert {key[0][:-3] for key in table} == sources, sources


def check_without(work):
    steps, end = day(work + "/none", 77)
    assert all(said.startswith("not run: no GPU") for said in steps.values()), steps
    assert len(end) == len(STEPS) + 1 and "0 of 8 steps done, 0 failed, 8 not run" in end[-1], end
    assert [line.split(": ")[1] for line in end[:-1]] == STEPS, end


def check_stand_in(work, suite):
    out = work + "/day"
    steps, _ = day(out, 77, "--gpu", "h100", "--suite", suite)
    assert steps["predict"].startswith("done") and steps["gate"].startswith("not run"), steps
    steps, end = day(out, 77, "--stand-in", "h100", "--suite", suite)
    assert steps["predict"] == "done before", steps
    ran = {name for name, said in steps.items() if said.startswith("done")}
    assert ran == set(STEPS) - {"ex2", "sanitize"}, steps
    assert "6 of 8 steps done, 0 failed, 2 not run" in end[-1], end
    steps, _ = day(out, 77, "--stand-in", "h100", "--suite", suite)
    assert all(steps[name] == "done before" for name in ran), steps
    for name in ("gate", "bits"):  # another GPU than the predictions are for
        shutil.rmtree(f"{out}/{name}")
    steps, end = day(out, 1, "--stand-in", "a100", "--suite", suite)
    assert steps["gate"].startswith("done") and "1 of 1 cases have other bits" in steps["bits"], steps
    assert steps["times"] == "done before" and "1 failed" in end[-1], steps
    with open(out + "/bits/differences.txt", encoding="utf-8") as file:
        assert "o[0,0,0," in file.read()


def check_vectors(work):
    """Vectors of one GPU are not another's: each kind tells Ampere from Hopper."""
    os.mkdir(work + "/vectors")
    env = {**os.environ, "ATTEST_CUDA_HOST_GPU": "a100"}
    subprocess.run([BUILD + "/cuda/mma", work + "/vectors", "h100"], env=env, check=True)
    told = {}
    for name in sorted(os.listdir(work + "/vectors")):
        with open(f"{work}/vectors/{name}", encoding="utf-8") as file:
            told[name] = subprocess.run([BUILD + "/mma-compare"], stdin=file, stdout=subprocess.DEVNULL,
                                        check=False).returncode
    assert len(told) == 16 and set(told.values()) <= {0, 1}, told
    assert all(told.pop(name) == 1 for name in list(told) if name != "f16-floor.txt"), told  # f16 has no such numbers


PTX = """.visible .entry _Z1kPf(
.param .u64 x
)
{
 fma.rn.f32 %f1, %f2, %f3, %f4;
 mul.f32 %f5, %f1, %f1;
 mul.rn.f32 %f6, %f1, %f1;
 add.rn.f32 %f6, %f1, %f1;
 ex2.approx.ftz.f32 %f7, %f6;
 div.rn.f32 %f8, %f6, %f5;
}
"""
SASS = """\t.target\tsm_80
\t.section\t.text._Z1kPf,"ax",@progbits
\t.sectioninfo\t@"SHI_REGISTERS=8"
_Z1kPf:
        /*0000*/                   FFMA R1, R2, R3, R4 ;
        /*0010*/              @!P0 HMMA.16816.F32.BF16 R8, R4, R6, R8 ;
        /*0020*/                   MUFU.RCP R5, R4 ;
        /*0030*/              @P1  FADD R5, R4, R4 ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
\t.section\t.nv.info,"",@"SHT_CUDA_INFO"
"""
USED = """ptxas info    : Function properties for _Z1kPf
    8 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers
"""


def check_fingerprints(work):
    body = fingerprints.functions_of_ptx(PTX)["_Z1kPf"]
    assert fingerprints.count(fingerprints.FREE, body) == 1
    assert fingerprints.count(fingerprints.APPROX + r"[\w.]*", body) == 1
    counts = fingerprints.sass_counts(SASS)["_Z1kPf"]
    assert counts["all"] == 5 and {k for k, v in counts.items() if v == 1} == {"mma", "mufu", "fma", "add", "bar"}, counts
    assert fingerprints.resources(USED) == {"_Z1kPf": {"regs": 40, "spills": 12}}
    kept = {("a.cu", "k", "sm_80"): {"regs": 32, "mma": 4}, ("a.cu", "gone", "ptx"): {"free": 0},
            ("b.cu", "k", "sm_80"): {"regs": 1}}
    now = {("a.cu", "k", "sm_80"): {"regs": 40}, ("a.cu", "new", "sm_80"): {"regs": 1}}
    said = fingerprints.differences(kept, now, ["a.cu"], ["sm_80"])
    assert said == ["a.cu gone ptx: in the table, and no longer there", "a.cu k sm_80: regs 32 -> 40",
                    "a.cu new sm_80: not in the table"], said
    rows = {("flash.cu", "flash", "ptx"): {"free": 1, "approx": 0}, ("softmax.cu", "row", "ptx"): {"free": 0, "approx": 0}}
    said = fingerprints.unnamed(rows, ["flash.cu", "softmax.cu"])
    assert len(said) == 2 and "not named" in said[0] and "every operation is named" in said[1], said
    version, table = fingerprints.read(fingerprints.TABLE)
    assert version and fingerprints.unnamed(table, sorted({key[0] for key in table})) == []
    assert all(v.get("spills", 0) == 0 and v.get("all", 1) > 0 for v in table.values())
    with open(work + "/nvcc", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho 'Cuda compilation tools, release 99.0, V99.0.1'\n")
    os.chmod(work + "/nvcc", 0o755)
    for nvcc, words in ((work + "/nvcc", "here is 99.0.1"), ("", "no nvcc")):
        done = subprocess.run([sys.executable, fingerprints.__file__, "--nvcc", nvcc], stdout=subprocess.PIPE, text=True,
                              check=False)
        assert done.returncode == 77 and words in done.stdout and "not compared" in done.stdout, done


def main():
    with tempfile.TemporaryDirectory() as work:
        check_every_source()
        check_fingerprints(work)
        check_vectors(work)
        check_without(work)
        with open(work + "/one.suite", "w", encoding="utf-8") as file:
            file.write(LINE)
        check_stand_in(work, work + "/one.suite")


main()
