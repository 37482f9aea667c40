"""onnxruntime: the operator Attention of ONNX (opset 23), and its own com.microsoft.MultiHeadAttention."""
import functools

import onnxruntime
from onnx import TensorProto, helper

import attest

TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}


@functools.lru_cache(maxsize=8)
def session(op, domain, dtype, names, attributes):
    """A model of one node with free sizes."""
    node = helper.make_node(op, list(names), ["o"], domain=domain, **dict(attributes))
    rank = 3 if domain else 4
    free = [helper.make_tensor_value_info(n, TensorProto.BOOL if n == "mask" else dtype, [None] * rank)
            for n in names + ("o",)]
    graph = helper.make_graph([node], "attention", free[:-1], free[-1:])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 23),
                                                                   helper.make_opsetid("com.microsoft", 1)])
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def attention(p, q, k, v, visible):
    plain = p["window"] is None and p["lens"] is None and p["mask"] in (None, "causal")
    own = dict(scale=p.scale, is_causal=int(plain and p["mask"] == "causal"), softcap=float(p["cap"] or 0))
    given = dict(q=q, k=k, v=v) if plain else dict(q=q, k=k, v=v, mask=visible.repeat(p.hq, axis=1))
    return session("Attention", "", TYPES[p.dtype], tuple(given), tuple(own.items())).run(None, given)[0]


@attest.kernel(axes={"mask": "full,causal,causal-br", "window": "any", "lens": "any", "cap": "any"}, types="f32",
               schedule="two-pass", empty_row="nan", flags="masked-finite",
               supports=lambda p: p.scale > 0 or "scale > 0: the session refuses others")
def ort_attention(p, q, k, v, *, visible):
    return attention(p, q, k, v, visible)


@attest.kernel(types="f32", axes={"mask": "full,causal"}, flags="masked-finite",
               supports=lambda p: p.hq == p.hkv and (p["mask"] is None or p.n == p.m) or "hq = hkv, causal n = m")
def ort_mha(p, q, k, v):
    own = dict(num_heads=p.hq, scale=p.scale, unidirectional=int(p["mask"] == "causal"))
    rows = {n: x.swapaxes(1, 2).reshape(p.b, x.shape[2], -1) for n, x in dict(q=q, k=k, v=v).items()}
    node = session("MultiHeadAttention", "com.microsoft", TensorProto.FLOAT, tuple(rows), tuple(own.items()))
    o = node.run(None, rows)[0]
    return o.reshape(p.b, p.n, p.hq, p.e).swapaxes(1, 2)
