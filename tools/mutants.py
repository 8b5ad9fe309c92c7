"""The mutants of a C source: small changes of its text, each of which a test should notice.

Used by tools/mutate.py. The source is cut into tokens; a change replaces a range of its characters, keeps the number of
lines, and may fail to compile, which is then found out by compiling it. The style of the sources is made use of: binary
operators have a space on either side, unary ones have not.
"""
import re

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*|\s+)
      |(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      |(?P<number>(?:0[xX][0-9a-fA-F.pP]+|\.?[0-9](?:[eE][+-]|[0-9a-zA-Z.])*))
      |(?P<word>[A-Za-z_]\w*)
      |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.S | re.M | re.X,
)
BINARY = {
    "relation": {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]},
    "arithmetic": {"+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"],
                   "|": ["&"], "^": ["&"]},
    "assignment": {"+=": ["-="], "-=": ["+="], "*=": ["="], "|=": ["&=", "="], "&=": ["|=", "="], "<<=": [">>="],
                   ">>=": ["<<="]},
    "logic": {"&&": ["||"], "||": ["&&"]},
}
# What gives the same with two arguments in the other order: the second and the third of these functions; of others those after an
# operator. That is no mutant.
COMMUTES = re.compile(r"sk_(add|mul|min|max)|LLVMBuild(Add|Mul|And|Or|Xor)")
OPERATOR_COMMUTES = re.compile(r"OP_(ADD|MUL|MIN|MAX|AND|OR|XOR|EQ|NE|BIT_AND|BIT_OR|BIT_XOR)|LLVMInt(EQ|NE)")
# Whether two texts are equal, in either order.
COMPARES = {"strcmp", "strncmp", "memcmp"}
# What only gives memory of an arena back before its end. Without it programs need more memory, which is measured, not tested.
GIVES_BACK = {"vec_free", "arena_release"}
CLOSES = {"(": ")", "[": "]", "{": "}"}
CONSTANT = {"0", "1", "NULL", "true", "false", "SN_OK"}
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "case", "_Generic", "defined", "break", "continue",
            "goto", "default", "typedef", "static", "const", "struct", "enum", "union", "_Static_assert", "extern"}


class Token:
    def __init__(self, kind, text, at):
        self.kind, self.text, self.at, self.end = kind, text, at, at + len(text)


class Mutant:
    """`text` in place of the characters from `at` to `end`; `operator` says what kind of change it is."""

    def __init__(self, operator, at, end, text):
        self.operator, self.at, self.end, self.text = operator, at, end, text

    def apply(self, source):
        lines = source.count("\n", self.at, self.end) - self.text.count("\n")
        return source[: self.at] + self.text + "\n" * lines + source[self.end :]

    def line(self, source):
        return source.count("\n", 0, self.at) + 1


def tokens_of(source):
    return [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(source) if m.lastgroup != "skip"]


def partners(tokens):
    """For each bracket, the index of the one that belongs to it."""
    open_, partner = [], {}
    for i, t in enumerate(tokens):
        if t.kind == "sign" and t.text in CLOSES:
            open_.append(i)
        elif t.kind == "sign" and t.text in CLOSES.values() and open_:
            partner[i] = open_.pop()
            partner[partner[i]] = i
    return partner


def around(tokens, partner):
    """For each token the name of the function whose argument it is a part of, in parentheses of its own or not; else ""."""
    names = [""] * len(tokens)
    for i, t in enumerate(tokens):  # from outer to inner
        if t.text == "(" and i in partner and i and tokens[i - 1].kind == "word" and tokens[i - 1].text not in KEYWORDS:
            names[i + 1 : partner[i]] = [tokens[i - 1].text] * (partner[i] - i - 1)
    return names


class Finder:
    def __init__(self, source):
        self.source = source
        self.tokens = tokens_of(source)
        self.partner = partners(self.tokens)
        self.around = around(self.tokens, self.partner)
        self.found = []

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def add(self, operator, first, last, text):
        """Replaces the tokens from `first` to `last`."""
        self.found.append(Mutant(operator, self.tokens[first].at, self.tokens[last].end, text))

    def span(self, first, last):
        return self.source[self.tokens[first].at : self.tokens[last].end]

    def in_function(self):
        """Indices of tokens in bodies of functions: in braces that follow a parenthesis, outside of any others."""
        i = 0
        while i < len(self.tokens):
            if self.text(i) == "{" and i in self.partner:
                if self.text(i - 1) == ")":
                    yield from range(i, self.partner[i])
                i = self.partner[i]
            i += 1

    def end_of_statement(self, i):
        """The index of the last token of the statement that begins at i."""
        if self.text(i) == "{":
            return self.partner[i]
        if self.text(i) in ("if", "for", "while", "switch"):
            last = self.end_of_statement(self.partner[i + 1] + 1)
            if self.text(i) == "if" and self.text(last + 1) == "else":
                return self.end_of_statement(last + 2)
            return last
        while i < len(self.tokens) - 1 and self.text(i) != ";":
            i = self.partner[i] + 1 if self.text(i) in CLOSES else i + 1
        return i

    def spaced(self, t):
        return self.source[t.at - 1].isspace() and self.source[t.end : t.end + 1].isspace()

    def operators(self, i):
        t = self.tokens[i]
        if t.kind != "sign" or not self.spaced(t):
            return
        for operator, changes in BINARY.items():
            for other in changes.get(t.text, []):
                self.add(operator, i, i, other)

    def constants(self, i):
        t = self.tokens[i]
        if t.text in ("true", "false"):
            self.add("constant", i, i, "false" if t.text == "true" else "true")
        number = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)", t.text)
        if not number:
            return
        value = int(number.group(1), 8 if re.match("0[0-9]", t.text) else 0)
        if self.text(i - 1) == "[" and value >= 16:  # the size of a buffer
            return
        if value == 0 and self.text(i + 1) == ")" and self.text(self.partner[i + 1] - 1) == "k_let":  # an operand that it has not
            return
        # The size of what is allocated, and what is not 0 in a map that is a set, may grow.
        sets = self.around[i] == "map64_put" and self.text(i - 1) == "," and self.text(i + 1) == ")"
        grows = self.around[i] in ("arena_alloc", "arena_array") and self.text(i - 1) not in ("-", "/", "%", ">>")
        if not (value > 0 and (sets or grows)):
            self.add("constant", i, i, f"{value + 1}{number.group(2)}")
        if value > 0:
            self.add("constant", i, i, f"{value - 1}{number.group(2)}")

    def conditions(self, i):
        if self.text(i) == "if" and self.text(i + 1) == "(":
            last = self.partner[i + 1]
            self.add("condition", i + 1, last, "(!" + self.span(i + 1, last) + ")")

    def statements(self, i):
        first = self.tokens[i]
        if first.text in ("break", "continue") and self.text(i + 1) == ";":
            self.add("statement", i, i, "")
            return
        before = self.text(i - 1)
        if before not in (";", "{", "}", ")", "else", ":") or first.text in KEYWORDS:
            return
        if before == ")" and self.text(self.partner.get(i - 1, 0) - 1) not in ("if", "for", "while", "switch"):
            return
        if first.kind == "word" and self.text(i + 1) in ("(", "[", "->", ".", "=", "++", "--") + tuple(BINARY["assignment"]):
            pass
        elif first.text != "*" and first.text != "++" and first.text != "--":
            return
        if first.text in GIVES_BACK:
            return
        last = self.end_of_statement(i)
        self.add("statement", i, last - 1, "")

    def returns(self, i):
        if self.text(i) != "return" or self.text(i + 1) == ";":
            return
        last = self.end_of_statement(i) - 1
        value = self.span(i + 1, last)
        if value not in CONSTANT:
            self.add("return", i + 1, last, "0")
            if re.search(r"[<>=!]=| [<>] |&&|\|\||^!", value):
                self.add("return", i + 1, last, "1")

    def elses(self, i):
        if self.text(i) == "else":
            self.add("else", i, self.end_of_statement(i + 1), "")

    def arguments(self, i):
        if self.text(i) != "(" or self.tokens[i - 1].kind != "word" or self.text(i - 1) in KEYWORDS:
            return
        parts, first, k = [], i + 1, i + 1
        while k <= self.partner[i]:
            if self.text(k) == "," or k == self.partner[i]:
                parts.append((first, k - 1))
                first = k + 1
            k = self.partner[k] + 1 if self.text(k) in CLOSES else k + 1
        equal = self.text(i - 1) in COMPARES and self.text(self.partner[i] + 1) in ("==", "!=") and self.text(self.partner[i] + 2) == "0"
        for k, ((a, b), (c, d)) in enumerate(zip(parts, parts[1:])):
            if k == 0 and equal:
                continue
            if b < a or d < c or self.span(a, b) == self.span(c, d):
                continue
            operator = self.span(*parts[k - 1]) if k and parts[k - 1][1] >= parts[k - 1][0] else ""
            if not OPERATOR_COMMUTES.fullmatch(operator) and not (k == 1 and COMMUTES.fullmatch(self.text(i - 1))):
                self.add("arguments", a, d, self.span(c, d) + ", " + self.span(a, b))

    def all(self):
        for i in self.in_function():
            for find in (self.operators, self.constants, self.conditions, self.statements, self.returns, self.elses, self.arguments):
                find(i)
        return self.found


def mutants_of(source):
    return Finder(source).all()
