"""accessible.py DIR [--axe WHEEL] [--pictures OUT]: the page DIR/index.html as people meet it, through headless Chromium.

Checked, each a line; exit code 1 if one is broken, 2 if a program or a file is missing:
    tidy        no error and no warning of HTML
    address     nothing is loaded from elsewhere, and there is no script: it can be read without JavaScript
    size        under 1 MB
    axe         axe-core finds nothing serious or critical, at 390 and 1280 px, light and dark (contrast 4.5 included)
    charts      at 390 px every visible text of a chart is at least 11 px high, exponents too
    sideways    at 390 px the page itself does not scroll sideways (its tables may)
    print       it prints on A4, with the whole width of its tables' first column on the sheet

axe-core is axe.min.js of the wheel axe-core-python (PyPI), fetched by `pip download` into DIR/../axe unless given.
A page that breaks each rule is made and must be caught, or nothing that was found means anything."""
import argparse
import base64
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

WIDTHS = (390, 1280)
SCHEMES = {"light": 1, "dark": 0}
AXE = "axe-core-python==0.1.0"
MEASURE = """
function scale(matrix) { return Math.hypot(matrix.b, matrix.d); }
function measure() {
  const small = [];
  for (const text of document.querySelectorAll('svg text, svg tspan')) {
    const box = text.getBoundingClientRect();
    if (box.width === 0) continue;
    const size = parseFloat(getComputedStyle(text).fontSize) * scale(text.closest('text').getScreenCTM());
    if (size < 10.995) small.push(size.toFixed(2) + ' px: ' + text.textContent.trim().slice(0, 40));
  }
  const root = document.documentElement;
  return {small: small, charts: document.querySelectorAll('svg text').length,
          sideways: root.scrollWidth - root.clientWidth};
}
axe.run(document, {resultTypes: ['violations']}).then(function (found) {
  const said = measure();
  said.violations = found.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, count: v.nodes.length,
                                                first: v.nodes[0].html.slice(0, 160),
                                                why: v.nodes[0].failureSummary.slice(0, 300)}));
  parent.document.getElementById('said').textContent = btoa(unescape(encodeURIComponent(JSON.stringify(said))));
  parent.document.title = 'done';
});
"""


def chromium(arguments, timeout=300):
    program = next((p for p in ("chromium", "chromium-browser", "google-chrome")
                    if subprocess.run(["which", p], stdout=subprocess.DEVNULL).returncode == 0), None)
    if not program:
        sys.exit("accessible.py: chromium is missing (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                               "--user-data-dir=" + home, "--disable-dev-shm-usage", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout, check=False).stdout


def axe_source(wheel, folder):
    if not wheel:
        os.makedirs(folder, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder, AXE], check=True)
        wheel = next(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".whl"))
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith("axe.min.js"))
        return archive.read(name).decode("utf-8")


def framed(page, width, height, script=""):
    """The page in a frame of that width: headless windows have a least width."""
    inner = page.replace("</body>", "<script>%s</script></body>" % script.replace("</script", "<\\/script")
                         if script else "</body>")
    return ('<!doctype html><title>wait</title><body style="margin:0"><pre id="said" hidden></pre>'
            '<iframe title="page" style="border:0" width="%d" height="%d" srcdoc="%s"></iframe>'
            % (width, height, html.escape(inner, quote=True)))


def asked(page, width, scheme, axe, folder):
    path = os.path.join(folder, "frame.html")
    with open(path, "w", encoding="utf-8") as out:
        out.write(framed(page, width, 20000, axe + ";" + MEASURE))
    text = chromium(["--blink-settings=preferredColorScheme=%d" % SCHEMES[scheme], "--virtual-time-budget=120000",
                     "--window-size=%d,1000" % max(width, 600), "--dump-dom", "file://" + path]).decode("utf-8", "replace")
    said = re.search(r'id="said"[^>]*>([A-Za-z0-9+/=]+)<', text)
    if not said:
        sys.exit("accessible.py: no answer of the page at %d px, %s" % (width, scheme))
    return json.loads(base64.b64decode(said.group(1)))


def broken_rules(page, path, axe, folder):
    """One line a broken rule."""
    tidy = subprocess.run(["tidy", "-q", "-e", "--gnu-emacs", "yes", path], stderr=subprocess.PIPE, check=False)
    for line in tidy.stderr.decode("utf-8", "replace").splitlines()[:20]:
        yield "tidy: " + line.split("index.html:")[-1]
    for address in re.findall(r'(?:src|href|action|data)\s*=\s*["\']?(?:https?:)?//[^\s"\'>]+', page)[:5]:
        yield "address: " + address
    if re.search(r"<script|@import|url\(\s*['\"]?(?:https?:)?//", page):
        yield "address: a script, an import or a style from elsewhere"
    if len(page.encode("utf-8")) >= 1000000:
        yield "size: %d bytes" % len(page.encode("utf-8"))
    for width in WIDTHS:
        for scheme in SCHEMES:
            said = asked(page, width, scheme, axe, folder)
            where = "%d px, %s" % (width, scheme)
            for v in said["violations"]:
                if v["impact"] in ("serious", "critical"):
                    yield "axe: %s: %s (%s), %d times: %s | %s" % (where, v["id"], v["impact"], v["count"], v["first"],
                                                                  " ".join(v["why"].split()))
                else:
                    print("note: axe: %s: %s (%s), %d times: %s" % (where, v["id"], v["impact"], v["count"], v["first"]))
            if width == 390:
                for text in said["small"][:5]:
                    yield "charts: %s: %s" % (where, text)
                if said["sideways"] > 0:
                    yield "sideways: %s: by %d px" % (where, said["sideways"])
            print("looked: %s: %d texts of charts, %d rules broken" % (where, said["charts"], len(said["violations"])))
    pdf = os.path.join(folder, "page.pdf")
    chromium(["--no-pdf-header-footer", "--print-to-pdf=" + pdf, "file://" + os.path.abspath(path)])
    with open(pdf, "rb") as printed:
        sizes = set(re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", printed.read()))
    if not sizes or any(abs(float(w) - 595) > 1.5 or abs(float(h) - 842) > 1.5 for w, h in sizes):
        yield "print: not on A4: %s" % sorted(sizes)


BAD = """<!doctype html><html lang="en"><head><title>t</title><link rel="stylesheet" href="https://example.org/a.css"></head>
<body><h1>t</h1><p style="color:#999;background:#fff">hard to read</p><div style="width:900px">wide</div>
<svg width="200" height="40" viewBox="0 0 2000 400"><text x="0" y="90" font-size="90">tiny</text></svg><b><i>x</b></i>
<img alt="" src="data:,"></body></html>"""
WANTED = ("tidy:", "address:", "axe: 390 px, light: color-contrast", "axe: 1280 px, dark: color-contrast", "charts:",
          "sideways:", "print:")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--axe")
    parser.add_argument("--pictures")
    options = parser.parse_args()
    path = os.path.join(options.dir, "index.html")
    with open(path, encoding="utf-8") as text:
        page = text.read()
    axe = axe_source(options.axe, os.path.join(options.dir, "..", "axe"))
    with tempfile.TemporaryDirectory() as folder:
        if options.pictures:
            os.makedirs(options.pictures, exist_ok=True)
            for width in WIDTHS:
                for scheme, number in SCHEMES.items():
                    frame = os.path.join(folder, "frame.html")
                    with open(frame, "w", encoding="utf-8") as out:
                        out.write(framed(page, width, 2600))
                    chromium(["--blink-settings=preferredColorScheme=%d" % number,
                              "--window-size=%d,2600" % max(width, 600),
                              "--screenshot=" + os.path.join(options.pictures, "page-%d-%s.png" % (width, scheme)),
                              "file://" + frame])
            return 0
        bad = os.path.join(folder, "index.html")
        with open(bad, "w", encoding="utf-8") as out:
            out.write(BAD.replace("</title>", "</title><style>@page{size:letter}</style>"))
        with open(bad, encoding="utf-8") as text:
            seen = list(broken_rules(text.read(), bad, axe, folder))
        for rule in WANTED:
            if not any(line.startswith(rule) for line in seen):
                sys.exit("accessible.py: a page that breaks '%s' was not caught: %s" % (rule, seen))
        broken = list(broken_rules(page, path, axe, folder))
        for line in broken:
            print("broken: " + line)
        print("page: %d broken, %d bytes" % (len(broken), len(page.encode("utf-8"))))
        return 1 if broken else 0


sys.exit(main())
