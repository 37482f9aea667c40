"""make_data.py DIR: the files that tests/cli/*.case name: attention outputs made by numpy, right and wrong,
and broken .npy files.  Fixed seed; numpy only."""
import struct
import sys

import numpy as np

out = sys.argv[1]
rng = np.random.default_rng(7)
N, D = 33, 8
SCALE = 1 / np.sqrt(8.0)


def save(name, a):
    np.save(f"{out}/{name}.npy", np.ascontiguousarray(a))


def softmax(q, k, v, dtype, causal=False, scale=SCALE, base=None, drop=0, shift=0):
    """Plain numpy attention in `dtype`; base 2: a wrong exponential; drop: keys left out; shift: mask slip."""
    q, k, v = (x.astype(dtype) for x in (q, k, v))
    s = (q @ k.T) * dtype(scale)
    if causal:
        s = np.where(np.arange(len(k))[None, :] <= np.arange(len(q))[:, None] + shift, s, -np.inf).astype(dtype)
    if drop:
        s[:, -drop:] = -np.inf
    s = s - s.max(axis=1, keepdims=True)
    w = np.exp2(s) if base == 2 else np.exp(s)
    return ((w / w.sum(axis=1, keepdims=True)) @ v).astype(dtype)


q, k, v = (rng.standard_normal((N, D)).astype(np.float32) for _ in range(3))
for name, a in (("q", q), ("k", k), ("v", v)):
    save(name, a)
    save(name + "64", a.astype(np.float64))
for name, a in (("tie_q", [[1], [0.5]]), ("tie_k", [[1], [0.25]]), ("tie_v", [[1 + 2.0**-8]] * 2)):
    save(name, np.array(a, np.float32))  # o is a midpoint of bfloat16, whatever the scores
save("o32", softmax(q, k, v, np.float32))
save("o32c", softmax(q, k, v, np.float32, causal=True))
save("o64", softmax(q, k, v, np.float64))
save("o_base2", softmax(q, k, v, np.float32, base=2))
save("o_dropped", softmax(q, k, v, np.float32, drop=1))
save("o_noscale", softmax(q, k, v, np.float32, scale=1.0))
save("o_offbyone", softmax(q, k, v, np.float32, causal=True, shift=1))
nan = softmax(q, k, v, np.float32)
nan[3, 2] = np.nan
save("o_nan", nan)
# BSHD: [1, N, 2, D] for two heads
q2, k2, v2 = (rng.standard_normal((1, 2, N, D)).astype(np.float32) for _ in range(3))
o2 = np.stack([softmax(q2[0, h], k2[0, h], v2[0, h], np.float32) for h in range(2)])[None]
for name, a in (("q2", q2), ("k2", k2), ("v2", v2), ("o2", o2)):
    save(name + "_bhsd", a)
    save(name + "_bshd", a.transpose(0, 2, 1, 3))

# the tutorial's worked example, also committed under examples/tutorial
good = open(f"{out}/q.npy", "rb").read()
open(f"{out}/truncated.npy", "wb").write(good[:-5])
open(f"{out}/short_header.npy", "wb").write(good[:20])
open(f"{out}/empty.npy", "wb").write(b"")
open(f"{out}/text.npy", "w").write("not an array\n")
save("bigendian", q.astype(">f4"))
np.save(f"{out}/fortran.npy", np.asfortranarray(q))
np.save(f"{out}/object.npy", np.array([[1, "a"], [2, "b"]], dtype=object), allow_pickle=True)
save("int32", np.zeros((N, D), np.int32))
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,), }"
header += b" " * (117 - len(header)) + b"\n"
open(f"{out}/huge.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 64)
save("k_wrong", k[:, :5])
save("one", np.ones((1, 1), np.float32))
save("len_negative", np.array([-1]))
save("len_long", np.array([N + 1]))
save("len_whole", np.array([N]))
save("len_less", np.array([N - 1]))
save("axes5", np.zeros((1, 1, 1, N, D), np.float32))
open(f"{out}/not_elf.so", "w").write("plain text\n")

# outputs that only a bound without a hole refuses or admits: all zero; a key within one rounding of the filter's threshold,
# dropped; tiny keys of efla, where float's squares are subnormal
save("zero84", np.zeros((8, 4), np.float32))
save("zero11", np.zeros((1, 1), np.float32))
one = np.float32(1)
edge = {"q": [one, one + np.float32(2**-12)], "k": [1 - 2**-12 + 2**-24, 1.75], "v": [1, 1]}
edge = {name: np.array(x, np.float32).reshape(2, 1) for name, x in edge.items()}
save("edge_a", np.array([1, 0.25], np.float32))
edge["o"] = np.array([edge["q"][0] * edge["k"][0], edge["q"][1] * edge["k"][1]], np.float32)
small = np.float32(3e-21) * np.float32(1.37)
rate = np.float32(0.1)
square = small * small
written = -np.expm1(-rate * square) / square
edge |= {"tiny_q": np.float32([[1e20]]), "tiny_k": [[small]], "tiny_v": np.float32([[1]])}
edge["tiny_o"] = np.float32(1e20) * (small * written)
for name, x in edge.items():
    save("edge_" + name, np.array(x, np.float32).reshape(-1, 1))
save("edge_tiny_b", np.array([rate]))
