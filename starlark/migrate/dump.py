"""Prints the syntax tree of the Python program on stdin as JSON.

Run by torchx with `python3 -I -S -c`; sys.argv[1] is what the file is called. Nothing of the
program is executed. Every node is an object with "_" (its class), the position and its fields.
"""
import sys

if sys.version_info < (3, 8):
    sys.stdout.write('{"old": "%d.%d"}' % sys.version_info[:2])
    sys.exit(0)

import ast
import io
import json
import tokenize


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


def dump(node):
    if isinstance(node, list):
        return [dump(item) for item in node]
    if not isinstance(node, ast.AST):
        return node if node is None or isinstance(node, (str, int)) else repr(node)
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
        if name not in ("ctx", "type_comment", "type_ignores", "kind"):
            out[name] = dump(value)
    return out


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
