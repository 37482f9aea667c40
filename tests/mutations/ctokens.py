"""ctokens.py: C source as tokens, and where functions and tables begin; comments and preprocessor lines are no tokens.

Nothing here depends on line breaks or on blanks, so what is said in tokens survives a change of layout.
"""
import bisect
import collections
import re

Token = collections.namedtuple("Token", "kind text start end")  # kind: name, number, text, mark
Place = collections.namedtuple("Place", "name first last result")  # tokens first..last-1 of a body; result: its type

PATTERN = re.compile(r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|\\\n)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S)
DIRECTIVE = re.compile(r"[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*", re.S)
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}


def tokens(source):
    """All tokens of a file, in order."""
    found, at, line_start = [], 0, True
    while at < len(source):
        if line_start:
            directive = DIRECTIVE.match(source, at)
            if directive:
                at = directive.end()
                continue
        match = PATTERN.match(source, at)
        at = match.end()
        if match.lastgroup == "skip":
            line_start = line_start or "\n" in match.group()
        else:
            line_start = False
            found.append(Token(match.lastgroup, match.group(), match.start(), at))
    return found


def partners(toks):
    """Index of the bracket that closes or opens each bracket; brackets without a partner are left out."""
    pairs, stack = {}, []
    for at, tok in enumerate(toks):
        if tok.kind != "mark":
            continue
        if tok.text in OPEN:
            stack.append(at)
        elif tok.text in CLOSE and stack and toks[stack[-1]].text == CLOSE[tok.text]:
            pairs[at] = stack.pop()
            pairs[pairs[at]] = at
    return pairs


def heads_function(toks, pairs, brace):
    """Index of the function's name, if the brace opens its body; else None."""
    at = brace - 1
    while at > 0 and toks[at].text == ")" and at in pairs:
        at = pairs[at] - 1
        if toks[at].kind == "name" and not toks[at].text.startswith("__"):
            return at
        at -= 1
    return None


def places(toks, pairs):
    """Bodies of functions and initialisers of tables at file level, in order."""
    found, at, start = [], 0, 0  # start: where the declaration began
    while at < len(toks):
        text = toks[at].text
        if text == "{" and at in pairs:
            if at > 0 and toks[at - 1].kind == "text":  # extern "C"
                at, start = at + 1, at + 1
                continue
            name = heads_function(toks, pairs, at)
            equals = next((k for k in range(start, at) if toks[k].text == "="), None)
            if name is not None and equals is None:
                result = [t.text for t in toks[start:name] if t.text not in ("static", "inline", "_Noreturn")]
                found.append(Place(toks[name].text, at + 1, pairs[at], " ".join(result)))
            elif equals is not None:
                names = [k for k in range(start, equals) if toks[k].kind == "name" and toks[k + 1].text in ("[", "=")]
                found.append(Place(toks[names[0]].text if names else "?", at + 1, pairs[at], ""))
            at = pairs[at]
            if name is not None and equals is None:
                start = at + 1
        elif text in "([" and at in pairs:
            at = pairs[at]
        elif text == ";" or text == "}":
            start = at + 1
        at += 1
    return found


def line_of(source, offset):
    """Line number, from 1, of a place in the text."""
    return source.count("\n", 0, offset) + 1


def loose(text):
    """A pattern that finds the text whatever blanks and line breaks stand between its words and marks."""
    pieces = re.findall(r"\w+|[^\w\s]", text)
    gaps = [r"\s+" if re.match(r"\w", one) and re.match(r"\w", two) else r"\s*" for one, two in zip(pieces, pieces[1:])]
    return re.compile("".join(re.escape(piece) + gap for piece, gap in zip(pieces, gaps + [""])))


def at_offset(toks, offset):
    """Index of the first token at or after a place in the text."""
    return bisect.bisect_left([t.start for t in toks], offset)
