"""Prints the syntax tree of the Python program on stdin as JSON.

Run by torchx with `python3 -I -S -c`; sys.argv[1] is what the file is called. Nothing of the
program is executed. Every node is an object with "_" (its class), the position and its fields,
whose names lose their underscores. ast.go has the fields that are used.
"""
import sys

if sys.version_info < (3, 8):
    sys.stdout.write('{"old": "%d.%d"}' % sys.version_info[:2])
    sys.exit(0)

import ast
import io
import json
import tokenize

OPERATORS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def constant(value):
    kind = type(value).__name__
    if kind == "str":
        return {"type": kind, "text": value, "bad": any(0xD800 <= ord(c) < 0xE000 for c in value)}
    return {"type": kind, "text": repr(value)}


def parsed(annotation):
    """An annotation that is written as a string is what the string says."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.copy_location(ast.parse(annotation.value, mode="eval").body, annotation)
        except SyntaxError:
            pass
    return annotation


def parameters(args):
    """The parameters of a function in their order, each with its default."""
    positional = args.posonlyargs + args.args
    required = [None] * (len(positional) - len(args.defaults))
    rows = [(a, d, "", False) for a, d in zip(positional, required + args.defaults)]
    rows += [(a, None, "*", False) for a in [args.vararg] if a]
    rows += [(a, d, "", True) for a, d in zip(args.kwonlyargs, args.kw_defaults)]
    rows += [(a, None, "**", False) for a in [args.kwarg] if a]
    return [dict(dump(a), default=dump(d), star=star, keyword=keyword) for a, d, star, keyword in rows]


def dump(node):
    if isinstance(node, list):
        return [dump(item) for item in node]
    if isinstance(node, OPERATORS) or not isinstance(node, ast.AST):
        return type(node).__name__ if isinstance(node, OPERATORS) else scalar(node)
    if type(node).__name__ == "Index":  # Python 3.8
        return dump(node.value)
    out = {"_": type(node).__name__}
    if hasattr(node, "lineno"):
        out["line"], out["col"] = node.lineno, node.col_offset + 1
        out["end"] = getattr(node, "end_lineno", None) or node.lineno
    if isinstance(node, ast.Constant):
        out.update(constant(node.value))
        return out
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            value = parsed(value)
        if isinstance(value, ast.arguments):
            out["plain"] = not (value.posonlyargs or value.kwonlyargs or value.defaults or value.vararg or value.kwarg)
            out["args"] = parameters(value)
        elif name not in ("ctx", "type_comment", "type_ignores", "kind"):
            out[name.replace("_", "")] = dump(value)
    if isinstance(node, ast.AnnAssign):
        out["targets"] = [out.pop("target")]
    return out


def scalar(value):
    return value if value is None or isinstance(value, (str, int)) else repr(value)


def comments(source):
    found = []
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            alone = not token.line[: token.start[1]].strip()
            found.append({"line": token.start[0], "alone": alone, "text": token.string})
    return found


def main():
    source = sys.stdin.buffer.read()
    try:
        tree = {"tree": dump(ast.parse(source, sys.argv[1])), "comments": comments(source)}
    except SyntaxError as e:
        tree = {"line": e.lineno or 0, "error": e.msg}
    except (ValueError, tokenize.TokenError) as e:
        tree = {"line": 0, "error": str(e)}
    except (RecursionError, MemoryError):
        tree = {"line": 0, "error": "it is nested too deeply for Python itself"}
    sys.stdout.write(json.dumps(tree))


main()
