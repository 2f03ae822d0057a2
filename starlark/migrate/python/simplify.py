"""Writes parts of a Python program with simpler Python, which the port knows.

Each method of Simplify is one rule. A rule that does not apply leaves the node as it is, and the
port reports it.
"""

LIMIT = 1 << 30  # rounds of a while loop; the interpreter stops before


class Simplify(Texts, Calls, Methods, Classes, Functions, Assigns, Top, Tries, ast.NodeTransformer):
    def __init__(self, tree, found, note):
        self.found, self.note, self.count, self.lifted = found, note, 0, []
        self.top_names = bound(tree.body) | set(found)
        self.globals, self.classes, self.locals = {}, {}, {}
        for s in tree.body:
            if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
                self.globals[s.targets[0].id] = s.value
            elif isinstance(s, ast.ClassDef):
                self.classes[s.name] = s
        for n in ast.walk(tree):
            n.from_source = True

    def full(self, node):
        root, _, rest = dotted(node).partition(".")
        return self.found.get(root, root) + (rest and "." + rest) if root in self.found else ""

    def temporary(self, node, value):
        """A new variable, and the statement that assigns it."""
        self.count += 1
        name = "_value%d" % self.count
        return name, placed(ast.Assign([ast.Name(name, ast.Store())], value), node)

    def visit_While(self, node):
        self.generic_visit(node)
        if node.orelse:
            return node
        check = [] if isinstance(node.test, ast.Constant) and node.test.value else [made(node, "if not test: break", test=node.test)]
        loop = made(node, "for _ in range(%d): pass" % LIMIT)
        loop.body = [s for c in check for s in self.hoisted(c)] + node.body
        return loop

    def visit_If(self, node):
        self.generic_visit(node)
        test = node.test
        if isinstance(test, ast.UnaryOp) and not node.orelse and isinstance(node.body[-1], ast.Raise) and self.checks_files(node, test):
            return ast.copy_location(ast.Pass(), node)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and not node.orelse and has_walrus(test.values[1:]):
            rest = test.values[1] if len(test.values) == 2 else ast.BoolOp(test.op, test.values[1:])
            inner = placed(ast.If(placed(rest, node), node.body, []), node)
            node.test, node.body = test.values[0], self.hoisted(inner)
        return self.hoisted(node)

    def hoisted(self, node):
        """An if whose test assigns variables with `:=` at once: the assignments come first."""
        first, out = node.test, []
        while first is not None:
            if isinstance(first, ast.NamedExpr):
                out.append(placed(ast.Assign([ast.Name(first.target.id, ast.Store())], first.value), first))
                name = ast.copy_location(ast.Name(first.target.id, ast.Load()), first)
                node.test = Replace(first, name).visit(node.test)
            first = next((getattr(first, f) for f in ("left", "operand", "func", "value") if isinstance(getattr(first, f, None), ast.expr)),
                         first.values[0] if isinstance(first, ast.BoolOp) else first.args[0] if isinstance(first, ast.Call) and first.args else None)
        return out + [node]

    def visit_Match(self, node):
        self.generic_visit(node)
        out, subject = [], node.subject
        if not isinstance(subject, ast.Name):
            name, assign = self.temporary(node, subject)
            out, subject = [assign], ast.Name(name, ast.Load())
        top = orelse = []
        for case in node.cases:
            test, variable = self.pattern(case.pattern, subject)
            if test is None or variable and case.guard:
                return node
            body = ([made(case.pattern, "%s = subject" % variable, subject=subject)] if variable else []) + case.body
            if case.guard:
                test = ast.BoolOp(ast.And(), [test, case.guard])
            test = placed(test, case.pattern)
            if isinstance(test, ast.Constant) and test.value is True:
                orelse.extend(body)
                break
            branch = placed(ast.If(test, body, []), case.pattern)
            orelse.append(branch)
            orelse = branch.orelse
        return out + top

    def pattern(self, p, subject):
        """The test of a pattern, None if it is not supported, and the variable that it binds."""
        kind = type(p).__name__
        if kind == "MatchValue":
            return ast.Compare(subject, [ast.Eq()], [p.value]), ""
        if kind == "MatchSingleton":
            return ast.Compare(subject, [ast.Is()], [ast.Constant(p.value)]), ""
        if kind == "MatchOr":
            tests = [self.pattern(q, subject)[0] for q in p.patterns]
            return (None if None in tests else ast.BoolOp(ast.Or(), tests)), ""
        if kind == "MatchAs":
            return (ast.Constant(True) if p.pattern is None else self.pattern(p.pattern, subject)[0]), p.name or ""
        return None, ""
