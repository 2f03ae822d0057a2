"""Nodes that rules write."""


def made(node, form, **parts):
    """The expression or statement of a form, in which names of parts stand for nodes, at the place of node."""
    tree = ast.parse(form).body[0]
    tree = tree.value if isinstance(tree, ast.Expr) and isinstance(node, ast.expr) else tree

    class Fill(ast.NodeTransformer):
        def visit_Name(self, n):
            return parts.get(n.id, n)

    return placed(Fill().visit(tree), node)


def placed(tree, node):
    """The tree, whose new nodes are at the place of node."""
    for n in ast.walk(tree):
        if not hasattr(n, "from_source"):
            ast.copy_location(n, node)
            if hasattr(node, "file"):
                n.file = node.file
    return tree


def variables(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def has_walrus(nodes):
    return any(isinstance(n, ast.NamedExpr) for node in nodes for n in ast.walk(node))


def walk_own(node):
    """The nodes of a statement without those of functions in it."""
    yield node
    for n in ast.iter_child_nodes(node):
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield from walk_own(n)


class Replace(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)
