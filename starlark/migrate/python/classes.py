"""Rules of classes."""


class Classes:
    def visit_ClassDef(self, node):
        self.number(node)
        bases = [b for b in node.bases if self.full(b) not in ("abc.ABC", "typing.Generic") and dotted(b) != "object"]
        base = self.classes.get(dotted(bases[0])) if len(bases) == 1 else None
        if base and base is not node:
            self.inherit(node, base)
            bases = [b for b in base.bases if dotted(b) not in self.classes and self.full(b) != "abc.ABC"]
            node.decorator_list = node.decorator_list or base.decorator_list
        for m in node.body:
            results = [n.value for n in ast.walk(m) if isinstance(n, ast.Return)] if isinstance(m, ast.FunctionDef) and m.args.args else []
            if results and not m.returns and all(dotted(r) == m.args.args[0].arg for r in results):
                m.returns = placed(ast.Name(node.name, ast.Load()), m)  # a method that returns self
        node.bases, node.keywords = bases, [k for k in node.keywords if k.arg != "metaclass"]
        self.generic_visit(node)
        return node

    def number(self, node):
        """Gives the members of an Enum that are auto() their values."""
        last = 0
        for s in node.body:
            value = getattr(s, "value", None) if isinstance(s, ast.Assign) else None
            if isinstance(value, ast.Call) and self.full(value.func) == "enum.auto":
                is_text = any(self.full(b) == "enum.StrEnum" or dotted(b) == "str" for b in node.bases)
                s.value = placed(ast.Constant(dotted(s.targets[0]).lower() if is_text else last + 1 if isinstance(last, int) else 1), value)
            last = getattr(getattr(s, "value", None), "value", last)

    def inherit(self, node, base):
        """Copies what a class has from its base, and the calls of super() with what they call."""

        if base.bases and self.classes.get(dotted(base.bases[0]), base) is not base:
            self.inherit(base, self.classes[dotted(base.bases[0])])
            base.bases = self.classes[dotted(base.bases[0])].bases
        own = {m.name if isinstance(m, ast.FunctionDef) else n: m for m in node.body for n in (binds(m) or [""])}
        theirs = {n: m for m in base.body for n in binds(m)}
        for m in node.body:
            if isinstance(m, ast.FunctionDef) and m.name in theirs:
                m.body = [s for old in m.body for s in self.inlined(old, copy.deepcopy(theirs[m.name]), m)]
        fields = [m for n, m in theirs.items() if n not in own and not isinstance(m, ast.FunctionDef)]
        doc = 1 if ast.get_docstring(node) is not None else 0
        node.body[doc:doc] = copy.deepcopy(fields)
        node.body += copy.deepcopy([m for n, m in theirs.items() if n not in own and isinstance(m, ast.FunctionDef)])

    def inlined(self, stmt, theirs, method):
        """The statements of the base's method instead of super().method(…)."""
        call = stmt.value if isinstance(stmt, ast.Expr) else None
        func = getattr(call, "func", None)
        if not (isinstance(func, ast.Attribute) and func.attr == method.name and isinstance(func.value, ast.Call) and dotted(func.value.func) == "super"):
            return [stmt]
        if not theirs.args.args or not method.args.args:
            return [stmt]
        parameters = theirs.args.args[1:] + theirs.args.kwonlyargs
        values = dict(zip([a.arg for a in reversed(theirs.args.args)], reversed(theirs.args.defaults)))
        values.update({a.arg: d for a, d in zip(theirs.args.kwonlyargs, theirs.args.kw_defaults) if d})
        values.update(zip([a.arg for a in parameters], call.args))
        values.update({k.arg: k.value for k in call.keywords})
        taken = {n.arg for n in ast.walk(method.args) if isinstance(n, ast.arg)} | bound(method.body)
        new = {a.arg: a.arg + "_of_base" if a.arg in taken else a.arg for a in parameters}
        out = []
        for a in parameters:
            same = dotted(values.get(a.arg)) == a.arg
            if a.arg not in values:
                return [stmt]
            if same:
                new[a.arg] = a.arg
            else:
                out.append(placed(ast.Assign([ast.Name(new[a.arg], ast.Store())], values[a.arg]), stmt))
        for s in theirs.body:
            for n in ast.walk(s):
                if isinstance(n, ast.Name):
                    n.id = new.get(n.id, method.args.args[0].arg if n.id == theirs.args.args[0].arg else n.id)
        return out + [s for s in theirs.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
