#!/bin/sh
# names.sh ATTEST LIBRARY FOLDER: a library whose path is markup, a formula and commands of a terminal, through gate,
# audit and report.  No file and no output may take any of it for more than text: no control character, no element of
# the name on the page or in a drawing, no formula at the head of a CSV cell, JUnit that is XML, Markdown that escapes.
attest=$1 library=$2 folder=$3
escape=$(printf '\033')
mkdir -p "$folder" && cd "$folder" || exit 1
name="=cmd|'\"&<script>alert(1)<x]>$escape]0;owned.so"
mkdir -p "=1+1<img src=x>" && cp "$library" "=1+1<img src=x>/$name" || exit 1
echo 'variant=softmax n={5,9} d=4' >"=s<b>.suite"
"$attest" audit "=1+1<img src=x>/$name" --suite "=s<b>.suite" --out out --jobs 1 >text 2>&1
"$attest" report out >>text 2>&1
python3 - <<'END'
import csv, glob, html.parser, json, re, xml.etree.ElementTree as tree
wrong = []
texts = {name: open(name, encoding="utf-8", newline="").read() for name in ["text"] + glob.glob("out/*")}
for name, text in texts.items():
    if re.search("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e]", text):
        wrong.append(name + ": a control character")
seen = []
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        seen.append(tag)
        wrong.extend(f"page: {tag} {a}" for a, value in attributes if a.startswith("on") or a == "src")
for name in [n for n in texts if n.endswith((".html", ".svg"))]:
    Page(convert_charrefs=True).feed(texts[name])
wrong += [f"page: <{tag}>" for tag in ("script", "img", "x", "b") if tag in seen]
tree.fromstring(texts["out/junit.xml"])
rows = list(csv.reader(texts["out/results.csv"].splitlines()))
wrong += [f"csv: {cell[:40]}" for row in rows for cell in row if cell[:1] in ("=", "+", "@", "\t")]
wrong += [f"markdown: {line[:80]}" for line in re.sub("`[^`]*`", "", texts["out/summary.md"]).splitlines()
          if re.search(r"(?<!\\)<(script|img|x|b)", line)]
results = [json.loads(line) for line in texts["out/results.jsonl"].splitlines()]
named = sum("\\x1b" in r["kernel"] and "<script>" in r["kernel"] for r in results)
page = "&lt;script&gt;" in texts["out/index.html"]
print(len(results), "results,", named, "with the name as text,", len(texts), "texts, page", page, "wrong", wrong)
END
