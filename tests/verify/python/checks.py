"""checks.py BUILD: the package `attest`, from the sources (PYTHONPATH)."""
import os
import re
import shutil
import sys
import tempfile
from fractions import Fraction

import numpy as np

os.environ["ATTEST"] = os.path.join(os.path.abspath(sys.argv[1]), "attest")
import attest  # noqa: E402  pylint: disable=wrong-import-position
from attest import arrays  # noqa: E402  pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))


def load_kernels():
    """kernels.py audits when it is imported, as a careless script does: not here."""
    real, attest.audit = attest.audit, lambda kernel: None
    try:
        import importlib.util
        spec = importlib.util.spec_from_file_location("kernels", os.path.join(HERE, "kernels.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except SystemExit:
        pass
    finally:
        attest.audit = real
    return module


def nearest_bf16(x):
    """By Fractions: the bits of the nearest, ties to even."""
    if x != x:
        return 0x7FC0
    sign, size = (0x8000 if np.signbit(x) else 0), abs(x)
    if size == np.inf:
        return sign | 0x7F80
    low, high = 0, 0x7F80  # finite values are in order; 0x7F80 stands for 2^128
    value = lambda b: Fraction(2) ** 128 if b == 0x7F80 else Fraction(float(arrays.from_bf16(np.array([b], np.uint16))[0]))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle) <= Fraction(float(size)) else (low, middle)
    down, up = Fraction(float(size)) - value(low), value(high) - Fraction(float(size))
    return sign | (low if down < up or (down == up and low % 2 == 0) else high)


def check_rounding():
    rng = np.random.default_rng(1)
    ties = arrays.from_bf16(rng.integers(0, 0x7F80, 60).astype(np.uint16)).astype(np.float64) * (1 + 2.0 ** -8)
    near = np.concatenate([ties * (1 + s * 2.0 ** -50) for s in (-1, 0, 1)])
    some = np.concatenate([near, -near, rng.normal(size=60) * 2.0 ** rng.integers(-140, 128, 60),
                           [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 3.3895e38, 1e-45, 5e-324]])
    with np.errstate(over="ignore"):
        got = arrays.to_bf16(some)
    for x, bits in zip(some, got):
        assert int(bits) == nearest_bf16(x), (x, hex(bits), hex(nearest_bf16(x)))


def check_verdicts(kernels, folder):
    suite = os.path.join(folder, "small.suite")
    with open(suite, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=2 hq=2 hkv=1 n=5 m={4,9} d=4 mask={full,causal,causal-br} window={none,3} lens={none,draw}\n"
                  "variant=softmax n=9 d=4 in=bf16 p=bf16 mask={full,causal}\nvariant=softmax1 hq=2 n=5 d=4\n")
    report = attest.audit(kernels.honest, suite)
    assert report.whole and report.counts()["pass"] >= 20, report
    assert report.results[0].kernel.startswith("exec:") and "<html" in report.html and "PASS honest" in repr(report)
    assert any(trait["trait"] == "schedule" and trait["verdict"] == "agrees" for trait in report.traits), report.traits
    assert attest.check(kernels.narrow, suite).counts()["pass"] == 2
    loose, inferred = (attest.audit(kernels.silent, suite, infer=yes) for yes in (False, True))
    assert loose.ok and inferred.ok and "schedule=two-pass" in inferred.said, inferred.said
    assert loose.worst_ratio < inferred.worst_ratio < 1, (loose, inferred)
    assert attest.check(kernels.with_sink, suite).counts()["pass"] == 1
    biased = os.path.join(folder, "biased.suite")
    with open(biased, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=2 hq=4 hkv=2 n=5 m=9 d=4 bias={full,head,batch,shared} {in=f32,in=bf16 p=f32 out=f32}\n")
    assert attest.check(kernels.with_bias, biased).counts()["pass"] == 8
    masked = os.path.join(folder, "masked.suite")
    with open(masked, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=2 hq=4 hkv=2 n=9 m=12 d=4 attn_mask={full,head,batch,shared} mask={full,causal-br}\n")
    assert attest.check(kernels.with_mask, masked).counts()["pass"] == 8
    paged = os.path.join(folder, "paged.suite")
    with open(paged, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=2 hq=4 hkv=2 n=5 m=9 d=4 pages={none,1,4,9,16} mask={full,causal}\n")
    assert attest.check(kernels.with_pages, paged).counts()["pass"] == 10
    dropping = os.path.join(folder, "dropping.suite")
    with open(dropping, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=2 hq=4 hkv=2 n=9 m=13 d=4 dropout={0.1,0.9} mask=causal {in=f32,in=bf16 p=bf16}\n")
    import kernels_dropout as dropout
    for one in dropout.DROPPING:
        assert attest.check(one, dropping).counts()["pass"] == 4, one.__name__
    assert attest.audit(dropout.drop_by_kv_head, suite=dropping).failures
    varlen = os.path.join(folder, "varlen.suite")
    with open(varlen, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=4 hq=4 hkv=2 n=5 m=9 d=4 packed={off,on} lens_q={none,draw} mask={full,causal-br}\n"
                  "variant=softmax b=4 hq=2 n=5 m=6 d=4 packed=on lens=draw lens_q={none,draw} mask={full,causal-br} seed={1,2}\n")
    assert attest.check(kernels.packed, varlen).counts()["pass"] == 16
    cached = os.path.join(folder, "cached.suite")
    with open(cached, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=2 hq=4 hkv=2 n=5 m=9 d={4,6} scale={0.5,0.3,1} kv={in,f16,bf16} mask={full,causal}\n")
    assert attest.check(kernels.with_cache, cached).counts()["pass"] == 36
    assert attest.check(kernels.with_narrow_queries, cached).counts()["pass"] == 36
    with open(cached, "w", encoding="utf-8") as out:
        out.write("variant=softmax b=2 hq=4 hkv=2 n=5 m=9 d={4,6} scale={0.5,0.3} kv={e4m3,e5m2} mask={full,causal}\n")
    assert attest.check(kernels.with_fp8_cache, cached).counts()["pass"] == 16
    try:
        attest.check(kernels.unscaled, suite)
    except AssertionError as error:
        assert "FAIL unscaled" in str(error) and "fail: bound" in str(error) and "attest replay --kernel" in str(error), error
        assert "would pass with scale=1: " in str(error), error
    else:
        raise SystemExit("a forgotten scale passed")


def check_open(kernels, folder):
    """What no bound covers is open, and no failure."""
    suite = os.path.join(folder, "open.suite")
    with open(suite, "w", encoding="utf-8") as out:
        out.write("variant=softmax n=9 d=4\nvariant=softmax hq=10 hkv=5 n=7 m=2 d=31 e=2 scale=2 family=subnormal\n")
    report = attest.check(kernels.honest, suite)
    assert report.ok and not report.whole and not report.failures and report.exit_code == 4, report
    assert [result.verdict for result in report.open] == ["undecided"] and "nothing could be judged" in repr(report), report
    try:
        report.check(strict=True)
    except AssertionError:
        return
    raise SystemExit("strict: an open case passed")


def check_torch():
    """bf16 through torch's own type, a fused function, and a planted bug; not run where torch is not installed."""
    try:
        import torch
    except ImportError:
        print("python: SKIP torch: it is not installed")
        return
    import kernels_torch
    for one in (kernels_torch.torch_math, kernels_torch.torch_fused):
        report = attest.check(one)
        assert report.counts()["pass"] > 10, report
    report = attest.audit(kernels_torch.torch_wrong)
    assert report.failures and any(fit["would_pass_with"] == "scale=1" for fit in report.would_pass), report
    q, k, v = (torch.ones(1, 1, 3, 2, dtype=torch.bfloat16) for _ in range(3))
    assert attest.compare("variant=softmax n=3 d=2 in=bf16 p=bf16", q=q, k=k, v=v, o=v).verdict == "pass"
    print(f"python: torch {torch.__version__}: ok" + ("" if torch.cuda.is_available() else "; not run on a GPU"))


def check_timing(kernels):
    """The function is called with the problem's own inputs, and each kernel has its ratio."""
    line = "variant=softmax mask=causal hq=2 hkv=1 n=40 d=8 e=4 window=9"
    given, seen = attest.inputs(line), []

    @attest.kernel(axes={"mask", "window"})
    def watched(p, q, k, v, *, visible):
        seen.append((p["mask"], p["window"], p["lens"], p.hkv, np.array_equal(q, given["q"]), visible.sum()))
        return kernels.softmax(p, q, k, v, visible)[0]

    rows = attest.bench(watched, line, kernels="softmax-online-f32", turns=2)
    visible = sum(min(i, 8) + 1 for i in range(40))
    assert set(seen) == {("causal", "9", None, 1, True, visible)}, set(seen)
    assert [one.name for one in rows][:2] == ["watched", "softmax-online-f32"], rows
    for one in rows:
        assert 0 < one.least <= one.median <= one.most, one
        assert abs(one.ns_per_pair * 2 * visible - one.median * 1e9) < 1e-3 * one.median * 1e9, one
        assert abs(one.over * one.median - rows[0].median) < 1e-9, one
    for wrong in (dict(turns=0), dict(rounds=4)):
        try:
            attest.bench(watched, line, kernels="softmax-online-f32", **wrong)
        except ValueError as error:
            assert "at least 1 turn of 5 rounds" in str(error), error
        else:
            raise SystemExit(f"bench took {wrong}")
    text = repr(rows).splitlines()
    assert len(text) == len(rows) + 1 and "as fast as watched" in text[0] and text[2].startswith("softmax-online-f32"), text


def check_harm(kernels, folder):
    suite = os.path.join(folder, "harm.suite")
    with open(suite, "w", encoding="utf-8") as out:
        out.write("variant=softmax n={2,3,4,5,6,7,8} m=8 d=4 mask={full,causal}\n")
    report = attest.audit(kernels.harmful, suite, timeout=2)
    found = {r.n: r for r in report.results if r.m == 8 and r.d == 4 and not r.why.startswith("in a probe")}
    expected = {2: ("pass", ""), 3: ("crash", "signal 11"), 4: ("crash", "exit code 7"), 5: ("timeout", "2 s"),
                6: ("fail", "no head of 6"), 7: ("fail", "(1, 1, 1, 4)"), 8: ("pass", "")}
    for n, (verdict, why) in expected.items():
        assert found[n].verdict == verdict and why in found[n].why, found[n]
    assert "only mask=full" in report.said, report.said
    assert not report.ok and len(report.failures) >= 5


def check_arrays(kernels):
    line = "variant=softmax mask=causal hq=2 hkv=1 n=3 m=4 d=4 in=bf16"
    given = attest.inputs(line)
    assert {name: x.shape for name, x in given.items()} == {"q": (1, 2, 3, 4), "k": (1, 1, 4, 4), "v": (1, 1, 4, 4)}
    truth = attest.reference(line, want="o,lse", **given)
    assert truth["o"].mid.shape == (1, 2, 3, 4) and truth["o"].rad.max() < 1e-30 and truth["lse"].mid.shape == (1, 2, 3)
    assert attest.compare(line, o=truth["o"].mid, **given).verdict == "pass"
    wrong = attest.compare(line, o=truth["o"].mid * 1.1, **given)
    assert str(wrong).startswith("fail: bound ") and wrong.verdict == "fail" and wrong.ratio_lo > 1 and wrong.worst.startswith("o["), wrong
    assert len(attest.cases("smoke")) > 20 and len(attest.props(kernels.honest, cases=12)) > 0
    for refused in (lambda: attest.reference("variant=odd"), lambda: attest.audit("no-such-kernel"),
                    lambda: attest.compare(line, o=truth["o"].mid[:, :1], **given)):
        try:
            refused()
        except attest.AttestError as error:
            assert str(error).startswith("attest "), error
        else:
            raise SystemExit("not refused")
    try:
        attest.audit(kernels.outer())
    except ValueError as error:
        assert "top level" in str(error)
    else:
        raise SystemExit("a closure was served")


def check_help():
    """help() needs no file of the sources, and names every word that a declaration has."""
    texts = {name: thing.__doc__ or "" for name, thing in vars(attest).items() if not name.startswith("_")}
    texts.update({module.__name__: module.__doc__ for module in (attest, attest.door, attest.run)})
    for name, text in texts.items():
        assert not re.search(r"\b(kernels|reports|reference|verify|props|tests)/|\.(h|md|c)\b", text), (name, text)
    with open(os.path.join(HERE, "..", "..", "..", "kernels", "library", "declare_text.c"), encoding="utf-8") as source:
        words = re.findall(r"ROW\(O(?:WN|F)\((\w+)\)", source.read())
    assert len(words) > 30, words
    for word in words:
        assert re.search(rf"\b{word}\b", attest.kernel.__doc__), word


def main():
    folder = tempfile.mkdtemp(prefix="attest-python-")
    kernels = load_kernels()
    try:
        check_rounding()
        check_help()
        check_arrays(kernels)
        check_timing(kernels)
        check_verdicts(kernels, folder)
        check_harm(kernels, folder)
        check_open(kernels, folder)
        check_torch()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
