"""mutants.py: the operators: every mutant of a source file, made by replacing or leaving out a few tokens.

An operator is a row of OPERATORS: a name, and a function that is given a Body and yields (first, last, text): tokens
first..last-1 become `text`.  Bodies are those of functions and of tables; declarations, macros and types stay as they
are.  A mutant's identity is

    reference/bound/bound_out.c:may_overflow:relation:3f0a91

file, function, operator, and a hash of what replaces what among which six tokens on either side; ".2" and so on is
added where a function has several alike.  It holds no line and no number of the site, so it stays when the layout
changes, when a function moves within its file and when other lines of the function change.
"""
import glob
import hashlib
import os
import re

import ctokens

FOLDERS = ["kernels", "reference", "props", "reports", "verify"]
# planted defects are mutants already; CUDA and vendors' libraries need what few machines have; a program that make runs
LEFT_OUT = ["kernels/defects/", "kernels/cuda/", "kernels/vendor/", "kernels/template/", "reference/tables/"]
WINDOW = 6
PRECEDENCE = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
              "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
ENDS = {",", ";", "?", ":", "(", ")", "[", "]", "{", "}", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=",
        ">>=", "return", "case"}
KEYWORDS = set("return case else sizeof goto do if while for switch default break continue typedef".split())
TYPES = set("void char short int long float double signed unsigned const static struct enum union volatile restrict "
            "_Noreturn inline extern FILE DIR real".split())
RELATIONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
              "<<": ">>", ">>": "<<", "&": "|", "|": "&", "|=": "&=", "&=": "|="}
ROUNDINGS = {"ARF_RND_UP": "ARF_RND_DOWN", "ARF_RND_DOWN": "ARF_RND_UP", "ARF_RND_CEIL": "ARF_RND_FLOOR",
             "ARF_RND_FLOOR": "ARF_RND_CEIL", "MPFR_RNDU": "MPFR_RNDD", "MPFR_RNDD": "MPFR_RNDU",
             "MPFR_RNDA": "MPFR_RNDZ", "MPFR_RNDN": "MPFR_RNDZ", "ARF_RND_NEAR": "ARF_RND_DOWN",
             "ref_lower": "ref_upper", "ref_upper": "ref_lower"}
for _name in "arb_get_mag arf_get_mag mag_add mag_sub mag_mul mag_div mag_sqrt mag_set_d mag_set_ui".split():
    ROUNDINGS[_name], ROUNDINGS[_name + "_lower"] = _name + "_lower", _name
NAMES = {}  # letters of a problem, indices, ends
for _a, _b in [("hq", "hkv"), ("n", "m"), ("d", "e"), ("i", "j"), ("low", "high"), ("lower", "upper"),
               ("first", "last"), ("fmin", "fmax")]:
    NAMES[_a], NAMES[_b] = _b, _a
LETTERS = {"hq", "hkv", "n", "m", "d", "e"}  # only as members of a problem
CALL = re.compile(r"(\w+)_(add|sub|mul|div|max|min|gt|ge|lt|le)((?:_ui|_si|_d)?)")
LIBRARIES = ("arb", "arf", "mag", "mpfr", "mpz", "mpq", "fmpz", "fmpq")
CALLS = {"add": "sub", "sub": "add", "mul": "div", "div": "mul", "max": "min", "min": "max", "gt": "ge", "ge": "gt",
         "lt": "le", "le": "lt"}
# without these nothing changes but the memory used, or everything breaks at once
HOUSEKEEPING = re.compile(r"\w*(_init|_inits|_init2|_inits2|_clear|_clears|_free|_cleanup|_cache)|free|fclose|fflush"
                          r"|va_\w+|snprintf|json_decref")


class Body:
    """The tokens of one function or table, and what operators ask of them."""

    def __init__(self, toks, pairs, place, known):
        self.toks, self.texts, self.pairs, self.place = toks, [t.text for t in toks], pairs, place
        self.types, self.next_constant, self.called = known
        self.sites = range(place.first, place.last)
        self.inside = self.brackets()

    def brackets(self):
        """The bracket that each token stands in, by index."""
        inside, stack = {}, ["{"]
        for at in self.sites:
            if self.texts[at] in ctokens.CLOSE and len(stack) > 1:
                stack.pop()
            inside[at] = stack[-1]
            if self.texts[at] in ctokens.OPEN:
                stack.append(self.texts[at])
        return inside

    def text(self, at):
        return self.texts[at] if 0 <= at < len(self.texts) else ""

    def is_type(self, at):
        return self.text(at) in self.types or self.text(at).endswith(("_t", "_ptr", "_srcptr"))

    def is_cast(self, close):
        """Whether the bracket that closes here holds a type and nothing else, or a condition."""
        start = self.pairs.get(close)
        if start is None:
            return False
        if self.text(start - 1) in ("if", "while", "for", "switch"):
            return True
        inside = range(start + 1, close)
        return len(inside) > 0 and self.is_type(start + 1) and self.text(start - 1) != "sizeof" and all(
            self.toks[k].kind == "name" or self.text(k) == "*" for k in inside)

    def is_binary(self, at):
        """Whether the operator here stands between two operands."""
        before = self.toks[at - 1]
        if self.toks[at].kind != "mark" or at <= self.place.first or at + 1 >= self.place.last:
            return False
        if before.kind == "name":
            declares = self.text(at) == "*" and (self.is_type(at - 1) or self.text(at + 1) in (")", "const", ",", "*"))
            return before.text not in KEYWORDS and not declares
        return before.kind == "number" or before.text == "]" or (before.text == ")" and not self.is_cast(at - 1))

    def right_end(self, at, level):
        """End of the operand to the right of an operator of this precedence."""
        at += 1
        while at < self.place.last:
            if self.text(at) in "([{" and at in self.pairs:
                at = self.pairs[at]
            elif self.text(at) in ENDS or (PRECEDENCE.get(self.text(at), 99) <= level and self.is_binary(at)):
                return at
            at += 1
        return at

    def left_start(self, at, level):
        """Start of the operand to the left of an operator of this precedence."""
        at -= 1
        while at >= self.place.first:
            if self.text(at) in ")]}" and at in self.pairs:
                at = self.pairs[at]
            elif self.text(at) in ENDS or (PRECEDENCE.get(self.text(at), 99) < level and self.is_binary(at)):
                return at + 1
            at -= 1
        return at + 1

    def pairs_of(self, at):
        """Index of the bracket that opens around a token."""
        at -= 1
        while at > self.place.first and self.text(at) not in "([{":
            at = self.pairs[at] - 1 if self.text(at) in ")]}" else at - 1
        return at

    def other_branch(self, at):
        """Index of the colon that belongs to a question mark."""
        pending = 0
        for at in self.level(at + 1):
            pending += (self.text(at) == "?") - (self.text(at) == ":")
            if pending < 0:
                return at
        return None

    def branch_end(self, colon):
        """End of the expression after that colon."""
        pending = 0
        for at in self.level(colon + 1) if colon else ():
            pending += (self.text(at) == "?") - (self.text(at) == ":")
            if pending < 0 or self.text(at) in ",;)]}":
                return at
        return None

    def level(self, at):
        """Tokens from here on that stand in no further bracket."""
        while at <= self.place.last:
            if self.text(at) in "([{" and at in self.pairs:
                at = self.pairs[at] + 1
            yield at
            at += 1

    def mentions(self, name):
        return name.isupper() or name in self.texts[max(0, self.place.first - 40):self.place.last]

    def between(self, first, last):
        return " ".join(t.text for t in self.toks[first:last])

    def statement_end(self, at):
        """Index of the semicolon that ends the statement that starts here, or None if a block comes first."""
        while at < self.place.last and self.text(at) != ";":
            if self.text(at) in "([{" and at in self.pairs:
                at = self.pairs[at]
            elif self.text(at) == "}":
                return None
            at += 1
        return at if at < self.place.last else None

    def starts_statement(self, at):
        before = self.text(at - 1)
        if self.inside[at] != "{" or self.place.result == "":
            return False
        if before == ")":
            start = self.pairs.get(at - 1)
            return start is not None and self.text(start - 1) in ("if", "while", "for")
        return before in (";", "{", "}", "else")


def relation(body):
    for at in body.sites:
        if body.text(at) in RELATIONS and body.is_binary(at):
            yield from ((at, at + 1, other) for other in RELATIONS[body.text(at)])


def arithmetic(body):
    for at in body.sites:
        if body.text(at) in ARITHMETIC and (body.text(at)[-1] == "=" or body.is_binary(at)):
            yield at, at + 1, ARITHMETIC[body.text(at)]


def logic(body):
    for at in body.sites:
        if body.text(at) in ("&&", "||"):
            yield at, at + 1, "||" if body.text(at) == "&&" else "&&"


def negate(body):
    for at in body.sites:
        if body.text(at) == "if" and body.text(at + 1) == "(":
            close = body.pairs[at + 1]
            yield at + 2, close, "!(" + body.between(at + 2, close) + ")"
        elif body.text(at) == "!" and (body.text(at - 2) != "if" or body.right_end(at, 99) < body.pairs[at - 1]):
            yield at, at + 1, ""
        elif body.text(at) == "-" and not body.is_binary(at):
            yield at, at + 1, ""


def constant(body):
    for at in body.sites:
        text = body.text(at)
        if body.toks[at].kind != "number":
            continue
        if body.text(at - 1) == "[" and body.text(at + 1) == "]" and (
                body.toks[at - 3].kind == "name" or body.text(at - 3) in "*," or len(text) > 1):
            continue  # the size of an array
        whole = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)", text)
        if whole:
            value, tail = int(whole.group(1), 16 if text[:2] in ("0x", "0X") else 10), whole.group(2)
            yield at, at + 1, f"{value + 1}{tail}"
            if value == 1:
                yield at, at + 1, "0" + tail
        elif re.fullmatch(r"0?\.0*[fF]?", text):
            yield at, at + 1, "1.0"
        else:
            yield at, at + 1, f"(2 * {text})"


def index(body):
    """a[i] becomes a[0], where i is one name."""
    for at in body.sites:
        if body.text(at - 1) == "[" and body.text(at + 1) == "]" and body.toks[at].kind == "name" and not (
                body.toks[at - 3].kind == "name" or body.text(at - 3) in "*,{" or body.text(at).isupper()):
            yield at, at + 1, "0"


def delete(body):
    for at in body.sites:
        first = body.toks[at]
        if not body.starts_statement(at) or first.text in ("(", "{", ";", "}"):
            continue
        end = body.statement_end(at)
        if end is None or first.text in KEYWORDS - {"break", "continue", "return"}:
            continue
        alone = end == at + 1
        if first.text == "return" and not alone:
            continue
        declared = body.is_type(at) or (body.toks[at + 1].kind == "name") or (
            body.text(at + 1) == "*" and body.toks[at + 2].kind == "name" and body.text(at + 3) in "=,;[")
        if not declared and not HOUSEKEEPING.fullmatch(first.text) and body.text(at + 1) != ":":
            yield at, end, ""


def term(body):
    for at in body.sites:
        text = body.text(at)
        if text in PRECEDENCE and PRECEDENCE[text] not in (6, 7) and body.is_binary(at):
            yield at, body.right_end(at, PRECEDENCE[text]), ""
            if text in ("&&", "||", "+", "*", "|"):
                yield body.left_start(at, PRECEDENCE[text]), at + 1, ""


def swapped(table):
    """An operator that replaces names by their partners."""
    def operator(body):
        for at in body.sites:
            if body.toks[at].kind == "name" and body.text(at) in table:
                yield at, at + 1, table[body.text(at)]
    return operator


def name(body):
    for at in body.sites:
        text = body.text(at)
        if text not in NAMES or body.is_type(at - 1) or body.text(at + 1) in ("++", "--", "="):
            continue
        member = body.text(at - 1) in ("->", ".") and body.text(at - 2) in ("p", "problem")
        if member or (body.text(at - 1) not in ("->", ".") and text not in LETTERS and body.mentions(NAMES[text])):
            yield at, at + 1, NAMES[text]


def call(body):
    for at in body.sites:
        match = CALL.fullmatch(body.text(at))
        if match:
            other = f"{match.group(1)}_{CALLS[match.group(2)]}{match.group(3)}"
            if match.group(1).startswith(LIBRARIES) or other in body.called:
                yield at, at + 1, other


def enumerated(body):
    for at in body.sites:
        if body.text(at) in body.next_constant and body.text(at - 1) != "=":
            yield at, at + 1, body.next_constant[body.text(at)]


def unwrap(body):
    """f(x) becomes (x), where f has one argument and the value is used."""
    for at in body.sites:
        if body.toks[at].kind != "name" or body.text(at + 1) != "(" or body.text(at) in KEYWORDS or body.is_type(at):
            continue
        close = body.pairs.get(at + 1, at)
        inner = [k for k in range(at + 2, close) if body.inside[k] == "(" and body.text(k) == ","]
        alone = all(body.pairs_of(k) > at + 1 for k in inner)
        if close > at + 2 and alone and not body.starts_statement(at) and not body.is_type(at - 1):
            yield at, close + 1, "(" + body.between(at + 2, close) + ")"


def argument(body):
    """An argument that is a name becomes the next argument that is one."""
    for at in body.sites:
        if body.text(at) != "(" or body.toks[at - 1].kind != "name" or body.text(at - 1) in KEYWORDS | {"offsetof"}:
            continue
        close = body.pairs.get(at, at)
        names = [k for k in range(at + 1, close) if body.toks[k].kind == "name" and body.text(k - 1) in ("(", ",") and
                 body.text(k + 1) in (")", ",") and body.pairs_of(k) == at and
                 body.text(k) not in ("err", "out", "NULL") and not body.text(k).isupper()]
        for k, other in zip(names, names[1:] + names[:1]):
            if body.text(k) != body.text(other) and not body.is_type(at - 2):
                yield k, k + 1, body.text(other)


def branch(body):
    """c ? a : b becomes b, and a."""
    for at in body.sites:
        if body.text(at) != "?":
            continue
        start, colon = body.left_start(at, 0), body.other_branch(at)
        end = body.branch_end(colon)
        if colon and end:
            yield start, colon + 1, ""
            yield start, end, body.between(at + 1, colon)


def result(body):
    kind = body.place.result
    for at in body.sites:
        if body.text(at) != "return":
            continue
        end = body.statement_end(at)
        if end is None or end == at + 1 or (end == at + 2 and body.toks[at + 1].kind == "number"):
            continue
        old = body.between(at + 1, end)
        new = f"!({old})" if kind == "int" else "NULL" if "*" in kind else "0"
        new = "ATTEST_OK" if kind == "attest_status" else new
        if new != old and (kind.split(" ")[-1] in ("int", "long", "double", "float", "real", "size_t", "attest_status",
                                                   "*", "char", "ulong", "slong") or kind.endswith("_t")):
            yield at + 1, end, new


OPERATORS = {
    "relation": relation, "arithmetic": arithmetic, "logic": logic, "negate": negate, "constant": constant,
    "index": index, "delete": delete, "term": term, "rounding": swapped(ROUNDINGS), "name": name, "call": call,
    "return": result, "enumerated": enumerated, "unwrap": unwrap, "argument": argument, "branch": branch,
}


class Mutant:
    """One change of one file."""

    def __init__(self, path, function, operator, span, new, digest):
        self.path, self.function, self.operator, self.span, self.new = path, function, operator, span, new
        self.digest, self.copy = digest, 1

    @property
    def id(self):
        more = f".{self.copy}" if self.copy > 1 else ""
        return f"{self.path}:{self.function}:{self.operator}:{self.digest}{more}"

    @property
    def room(self):
        return os.path.dirname(self.path)

    def apply(self, source):
        return source[:self.span[0]] + self.new + source[self.span[1]:]


def digest_of(texts, place, first, last, new):
    window = texts[max(place.first, first - WINDOW):first] + ["<"]
    window += texts[first:last] + [">"] + texts[last:min(place.last, last + WINDOW)] + [new]
    return hashlib.sha256(" ".join(window).encode()).hexdigest()[:6]


def of_source(path, source, known):
    """All mutants of a file, by function, operator and place."""
    toks = ctokens.tokens(source)
    pairs = ctokens.partners(toks)
    found, seen = [], {}
    texts = [t.text for t in toks]
    for place in ctokens.places(toks, pairs):
        body = Body(toks, pairs, place, known)
        for operator, sites in OPERATORS.items():
            for first, last, new in sites(body):
                if last <= first:
                    continue
                mutant = Mutant(path, place.name, operator, (toks[first].start, toks[last - 1].end), new,
                                digest_of(texts, place, first, last, new))
                seen[mutant.id] = mutant.copy = seen.get(mutant.id, 0) + 1
                found.append(mutant)
    return found


def sources(root):
    """Paths of the files that are mutated, relative to the root."""
    found = []
    for folder in FOLDERS:
        for kind in ("c", "h"):
            found += glob.glob(os.path.join(root, folder, "**", "*." + kind), recursive=True)
    found = sorted(os.path.relpath(path, root) for path in found)
    return [path for path in found if not path.startswith(tuple(LEFT_OUT))]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as text:
        return text.read()


def type_names(root):
    """Names that typedefs of the sources declare; those of libraries are told by their ends."""
    found = set(TYPES)
    for path in sources(root):
        for line in re.finditer(r"\btypedef\b[^;{]*?(?:\(\*(\w+)\)[^;]*|(\w+)(?:\[\w*\])?);", read(root, path)):
            found.add(line.group(1) or line.group(2))
        found |= set(re.findall(r"^\} (\w+);", read(root, path), flags=re.M))
    return found


def next_constants(root):
    """Of each constant that an enum of the sources lists, the one after it; of the last the first."""
    found = {}
    for path in sources(root):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", read(root, path), flags=re.S)
        for listed in re.findall(r"\benum\b[^;{(]*\{([^}]*)\}", text):
            names = re.findall(r"(?:^|,)\s*([A-Z][A-Z0-9_]+)\b", listed)
            if len(names) > 1:
                found.update(zip(names, names[1:] + names[:1]))
    return found


def calls_of(root):
    """Names that some source calls."""
    return {name for path in sources(root) for name in re.findall(r"\b(\w+)\(", read(root, path))}


def without_mutants(root, found):
    """Functions with a body in which no operator finds anything, as path:function."""
    made, bare = {(m.path, m.function) for m in found}, []
    for path in sources(root):
        toks = ctokens.tokens(read(root, path))
        bare += [f"{path}:{place.name}" for place in ctokens.places(toks, ctokens.partners(toks))
                 if place.result and place.last > place.first and (path, place.name) not in made]
    return bare


def all_of(root, under=""):
    """All mutants of the tree, or of files whose path starts so."""
    known = type_names(root), next_constants(root), calls_of(root)
    return [mutant for path in sources(root) if path.startswith(under)
            for mutant in of_source(path, read(root, path), known)]
