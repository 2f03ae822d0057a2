"""Finds what components reach."""


def imports(node, found, stars):
    """Notes the full names of what is imported, and the lines of `from … import *`."""
    for n in sorted(ast.iter_child_nodes(node), key=lambda n: not isinstance(n, ast.ExceptHandler)):  # the try counts, not its except
        if isinstance(n, ast.Import):
            for a in n.names:
                root = a.name.split(".")[0]
                found[a.asname or root] = a.name if a.asname else root
        elif isinstance(n, ast.ImportFrom):
            for a in n.names:
                if a.name == "*":
                    stars.append({"line": n.lineno, "module": n.module or ""})
                else:
                    found[a.asname or a.name] = "%s%s.%s" % ("." * n.level, n.module or "", a.name)
        imports(n, found, stars)


def parsed(annotation):
    """Returns the annotation that a string annotation contains."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.copy_location(ast.parse(annotation.value, mode="eval").body, annotation)
        except SyntaxError:
            pass
    return annotation


def is_component(node, found):
    """Whether TorchX takes a statement for a component."""
    returns = parsed(getattr(node, "returns", None))
    name = dotted(returns)
    root, _, rest = name.partition(".")
    full = found.get(root, root) + (rest and "." + rest)
    return isinstance(node, ast.FunctionDef) and node.name[:1] != "_" and not hasattr(node, "helper") and full.split(".")[-1] == "AppDef"


def mentioned(node):
    """The names and attributes in a node."""
    found = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif isinstance(n, ast.Attribute):
            found.add("." + n.attr)
        elif isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value.isidentifier():
            found.add(n.value)  # perhaps an annotation
    return found


def changed(node):
    """The names that a statement binds or changes."""
    found = bound([node])
    for n in ast.walk(node):
        target = n.func if isinstance(n, ast.Call) and getattr(n.func, "attr", "") in MUTATORS else n
        if target is not n or isinstance(n, (ast.Attribute, ast.Subscript)) and not isinstance(n.ctx, ast.Load):
            while isinstance(target, (ast.Attribute, ast.Subscript)):
                target = target.value
            found.add(dotted(target))
    return found


def reached(body, found):
    """The statements that components need, and the names of the functions and classes that they do not need."""
    if not any(is_component(s, found) for s in body):
        return body, []
    last = {s.name: s for s in body if isinstance(s, (ast.FunctionDef, ast.ClassDef))}
    body = [s for s in body if last.get(getattr(s, "name", ""), s) is s]
    body = [s for s in body if not isinstance(s, ast.If) or not mentioned(s.test) & {"__name__", "TYPE_CHECKING", ".TYPE_CHECKING"}]
    need = [s for s in body if is_component(s, found)]
    wanted, rest = set(), [s for s in body if s not in need]
    more = need
    while more:
        before = len(wanted)
        for s in need:
            parts = members(s, wanted) + s.bases + s.keywords + s.decorator_list if isinstance(s, ast.ClassDef) else [s]
            wanted.update(*map(mentioned, parts))
        more = [s for s in rest if changed(s) & wanted and not isinstance(s, (ast.Import, ast.ImportFrom))]
        need, rest = need + more, [s for s in rest if s not in more]
        more = more or len(wanted) > before
    for s in need:
        if isinstance(s, ast.ClassDef):
            s.body = members(s, wanted)
    keep = [s for s in body if s in need or isinstance(s, (ast.Import, ast.ImportFrom)) or isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)]
    return keep, [s.name for s in rest if isinstance(s, (ast.FunctionDef, ast.ClassDef)) and not hasattr(s, "helper")]


def members(node, wanted):
    """The members of a class without the methods that nobody calls."""
    return [m for m in node.body if not isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef)) or m.name in
            ("__init__", "__post_init__", "__str__") or "." + m.name in wanted]
