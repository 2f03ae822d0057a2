"""Prints the syntax tree of the Python program on stdin as JSON.

torchx runs it behind the other files of this folder; sys.argv[1] is the name of the program, and the
others are the folders of its imports. It never executes the program. Every node is an object with its
class as "kind", its position and its fields, whose names lose their underscores; node.go has those that the port uses. This program also computes what Python
knows best: which names a node binds, and powers of constants.
"""


NEITHER = [("name", "Name"), ("names", "list")]  # of `type X = …`, `global` and imports, which the port ignores
# Comments that start with these words are for Python tools.
TOOLS = (
    "type:", "noqa", "pyre-", "pylint:", "fmt:", "mypy:", "flake8", "isort:", "ruff:", "-*-", "/usr/bin", "/bin/", "pragma:", "usort:",
    "@lint-ignore", "lint-fixme", "pyrefly:",
)
OPERATORS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def constant(value):
    kind = type(value).__name__
    if kind == "str":
        return {"type": kind, "text": value, "bad": any(0xD800 <= ord(c) < 0xE000 for c in value)}
    return {"type": kind, "text": repr(value)}


def parameters(args):
    """The parameters of a function in their order, each with its default."""
    positional = args.posonlyargs + args.args
    required = [None] * (len(positional) - len(args.defaults))
    rows = [(a, d, "", False) for a, d in zip(positional, required + args.defaults)]
    rows += [(a, None, "*", False) for a in [args.vararg] if a]
    rows += [(a, d, "", True) for a, d in zip(args.kwonlyargs, args.kw_defaults)]
    rows += [(a, None, "**", False) for a in [args.kwarg] if a]
    return [dict(dump(a), default=dump(d), star=star, keyword=keyword) for a, d, star, keyword in rows]


def position(node):
    """Where a node stands: that of the first node in it, for nodes without a place."""
    placed = next((n for n in ast.walk(node) if hasattr(n, "lineno")), None)
    if placed is None:
        return {}
    return {"line": placed.lineno, "col": placed.col_offset + 1, "end": getattr(placed, "end_lineno", None) or placed.lineno}


def power(node):
    """The digits of a power of constants, "" for others."""
    a, b = getattr(node.left, "value", None), getattr(node.right, "value", None)
    known = isinstance(node.op, ast.Pow) and type(a) is int and type(b) is int and 0 <= b <= 1000 and a.bit_length() * b < 14000
    return str(a**b) if known else ""


def dump(node):
    if isinstance(node, list):
        return [dump(item) for item in node]
    if isinstance(node, OPERATORS) or not isinstance(node, ast.AST):
        return type(node).__name__ if isinstance(node, OPERATORS) else scalar(node)
    if type(node).__name__ == "Index":  # Python 3.8
        return dump(node.value)
    out = dict(position(node), kind=type(node).__name__, binds=binds(node), file=getattr(node, "file", ""), helper=hasattr(node, "helper"))
    if isinstance(node, ast.Constant):
        return dict(out, **constant(node.value))
    for name, value in ast.iter_fields(node):
        if (name, type(value).__name__) in NEITHER or out["kind"].startswith("Match"):
            continue
        if name in ("annotation", "returns"):
            value = parsed(value)
        if isinstance(value, ast.arguments):
            out["plain"] = not (value.posonlyargs or value.kwonlyargs or value.defaults or value.vararg or value.kwarg)
            out["args"] = parameters(value)
        elif name not in ("ctx", "type", "type_comment", "type_ignores", "kind"):
            out[name.replace("_", "")] = dump(value)
    if isinstance(node, (ast.IfExp, ast.Lambda)):
        out.update({name: [out[name]] for name in ("body", "orelse") if name in out})
    if isinstance(node, ast.BinOp):
        out["power"] = power(node)
    if isinstance(node, ast.JoinedStr):
        out["single"] = getattr(node, "single", False)
    if isinstance(node, ast.AnnAssign):
        out["targets"] = [out.pop("target")]
    return out


def scalar(value):
    return value if value is None or isinstance(value, (str, int)) else repr(value)


def comments(source):
    """The comments for readers."""
    found = []
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.lstrip("#! ").startswith(TOOLS):
            alone = not token.line[: token.start[1]].strip()
            found.append({"line": token.start[0], "alone": alone, "text": token.string})
    return found


def without(comments, body, kept):
    """The comments that are not of a statement which is left out, nor directly above it."""
    lines = {c["line"] for c in comments if c["alone"]}
    for s in body:
        if s not in kept and not isinstance(s, (ast.Import, ast.ImportFrom)):
            first = min([s.lineno] + [d.lineno for d in getattr(s, "decorator_list", [])])
            while first - 1 in lines:
                first -= 1
            comments = [c for c in comments if not first <= c["line"] <= s.end_lineno]
    return comments


def program(source, name, folders, is_simplified=True):
    """What the port reads of a program."""
    joined, notes, stars = Program(folders), [], []
    tree = ast.parse(source, name)
    imports(tree, {}, stars)
    main = joined.add(os.path.join(folders[0] if folders else "", os.path.basename(name)), "", tree)
    found, found_comments = joined.imports, comments(source)
    body, unused = reached(joined.joined(main), found)
    found_comments = without(found_comments, main.body, body)
    module = ast.Module(body, [])
    simplify = Simplify(module, found, lambda n, text: notes.append({"line": n.lineno, "file": getattr(n, "file", ""), "text": text}))
    if is_simplified:
        module = simplify.visit(simplify.top(module))
    module.body[1 if ast.get_docstring(module) is not None else 0 : 0] = simplify.lifted
    ast.fix_missing_locations(module)
    return {"tree": dump(module), "comments": found_comments, "imports": found, "stars": stars, "unused": unused, "notes": notes}


def main():
    source = sys.stdin.buffer.read()
    try:
        try:
            tree = program(source, sys.argv[1], sys.argv[2:])
        except (AttributeError, IndexError, KeyError, TypeError):  # a rule met a form that it does not know
            tree = program(source, sys.argv[1], sys.argv[2:], is_simplified=False)
    except SyntaxError as e:
        file = os.path.relpath(e.filename, sys.argv[2]) if sys.argv[2:] and os.path.isabs(e.filename or "") else ""
        tree = {"line": e.lineno or 0, "error": e.msg, "file": file}
    except (ValueError, tokenize.TokenError) as e:
        tree = {"line": 0, "error": str(e)}
    except (RecursionError, MemoryError):
        tree = {"line": 0, "error": "it is nested too deeply for Python itself"}
    sys.stdout.write(json.dumps(tree))


main()
