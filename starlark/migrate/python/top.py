"""Rules of statements at the top of a file."""


class Top:
    def top(self, tree):
        """Moves statements at the top of a file that assign a name several times into a function that returns its value."""
        tree.body, groups = self.choices(tree.body), []
        for s in tree.body:
            names_ = set() if isinstance(s, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)) else changed(s) & bound(tree.body)
            touching = [g for g in groups if g[1] & names_] if names_ else []
            groups = [g for g in groups if g not in touching]
            groups.append(([t for g in touching for t in g[0]] + [s], names_.union(*(g[1] for g in touching))))
        done = []
        for statements, names_ in groups:
            plain = [s for s in statements if isinstance(s, (ast.Assign, ast.AnnAssign))]
            again = len(bound(plain)) < sum(len(binds(s)) for s in plain)
            if names_ & bound(statements) and (again or any(isinstance(s, (ast.If, ast.For, ast.While, ast.AugAssign)) for s in statements)):
                statements = self.function_of(statements)
            done += statements
        tree.body = done
        return tree

    def choices(self, body):
        """Both branches of an if assign the same names: each becomes one expression."""
        out = []
        for s in body:
            branches = [s.body, s.orelse] if isinstance(s, ast.If) else []
            targets = [[dotted(a.targets[0]) if isinstance(a, ast.Assign) and len(a.targets) == 1 else "" for a in b] for b in branches]
            own = set(targets[0]) if targets else set()
            if targets and targets[0] == targets[1] and "" not in own and not any(own & mentioned(a.value) for b in branches for a in b):
                out += [placed(ast.Assign(a.targets, ast.IfExp(s.test, a.value, b.value)), a) for a, b in zip(*branches)]
            else:
                out.append(s)
        return out

    def function_of(self, statements):
        bound_names = sorted(bound(statements) - {n for s in statements for f in ast.walk(s) if isinstance(f, ast.For) for n in names(f.target)})
        last, name = statements[-1], "_make_" + "_".join(bound_names).lower()
        values = [getattr(s, "value", None) for s in statements if binds(s) == bound_names]
        kind = {"Dict": "dict", "List": "list", "JoinedStr": "str"}.get(type(values[0]).__name__) if values else None
        if values and isinstance(values[0], ast.Constant):
            kind = type(values[0].value).__name__
        result = bound_names[0] if len(bound_names) == 1 else "(%s)" % ", ".join(bound_names)
        function = made(statements[0], "def %s(): return %s" % (name, result))
        function.returns = placed(ast.Name(kind, ast.Load()), function) if kind else None
        function.body = statements + function.body
        function.end_lineno = last.end_lineno
        return [function, made(last, "%s = %s()" % (result, name))]
