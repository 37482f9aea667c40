"""traces.py WHEEL DIR [TEXT]: q, k, v of each layer and head of a small real transformer, for `attest order --trace`.

The transformer is the encoder of PP-OCRv4's text recognition (SVTR: 2 layers, 8 heads of 15 channels, full attention over
the columns of a line of text), as the package rapidocr-onnxruntime ships it with its weights; package and weights are
under Apache-2.0 (the wheel's METADATA; PaddleOCR's models). Nothing of it is kept here:

    python3 -m venv build/traces && build/traces/bin/pip install numpy onnx onnxruntime pillow
    build/traces/bin/pip download --no-deps -d build/traces rapidocr-onnxruntime==1.4.4
    build/traces/bin/python verify/audits/traces.py build/traces/rapidocr_onnxruntime-1.4.4-*.whl build/traces/out

TEXT is drawn in Pillow's own font as an image of 48 pixels height; what the model reads in it is printed, so that one sees
that the heads work on what they were trained for. Each attention (a softmax between two products) is found in the graph;
DIR/layer-N holds q, k, v and o, the model's own output, as .npy of f32 in BHSD. q has been scaled by the model already:
ask with scale=1.
"""
import os
import sys
import zipfile

import numpy as np
import onnx
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

MODEL = "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"
TEXT = "How many terms does a softmax of this line of text really need?"
HEIGHT = 48


def drawn(text):
    """[1, 3, 48, width], in [-1, 1], as the model was trained."""
    font = ImageFont.load_default(size=32)
    width = int(font.getlength(text)) + 24
    image = Image.new("RGB", (width, HEIGHT), "white")
    ImageDraw.Draw(image).text((12, 4), text, fill="black", font=font)
    pixels = np.asarray(image, dtype=np.float32)[:, :, ::-1] / 255
    return np.ascontiguousarray(((pixels - 0.5) / 0.5).transpose(2, 0, 1)[None])


def attentions(graph):
    """Names of (q, k transposed, v, o) of each softmax of a product whose output is multiplied."""
    made_by = {output: node for node in graph.node for output in node.output}
    found = []
    for node in graph.node:
        product = made_by.get(node.input[0]) if node.op_type == "Softmax" else None
        after = [n for n in graph.node if n.op_type == "MatMul" and node.output[0] == n.input[0]]
        if product is not None and product.op_type == "MatMul" and after:
            found.append((product.input[0], product.input[1], after[0].input[1], after[0].output[0]))
    return found


def read_text(model, probabilities):
    """What the model reads: the best character of each column, repeats and blanks left out."""
    characters = next(p.value for p in model.metadata_props if p.key == "character").split("\n")
    best = probabilities[0].argmax(axis=1)
    kept = [b for i, b in enumerate(best) if b > 0 and (i == 0 or b != best[i - 1])]
    return "".join((characters + [" "])[b - 1] if b <= len(characters) else " " for b in kept)


def main():
    wheel, folder = sys.argv[1:3]
    text = sys.argv[3] if len(sys.argv) > 3 else TEXT
    with zipfile.ZipFile(wheel) as archive:
        model = onnx.load_from_string(archive.read(MODEL))
    layers = attentions(model.graph)
    result = model.graph.output[0].name
    wanted = list(dict.fromkeys(name for layer in layers for name in layer))
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = dict(zip([result] + wanted, session.run([result] + wanted, {"x": drawn(text)})))
    print("drawn:", text)
    print("read: ", read_text(model, values[result]))
    for number, (q, k, v, o) in enumerate(layers):
        place = os.path.join(folder, "layer-%d" % number)
        os.makedirs(place, exist_ok=True)
        for name, x in (("q", values[q]), ("k", np.swapaxes(values[k], -1, -2)), ("v", values[v]), ("o", values[o])):
            np.save(os.path.join(place, name + ".npy"), np.ascontiguousarray(x, dtype=np.float32))
        print(place, values[q].shape)
    return 0


sys.exit(main())
