"""Rules of functions, and of what they return."""


class Functions:
    def visit_FunctionDef(self, node):
        node.decorator_list = [d for d in node.decorator_list if self.full(getattr(d, "func", d)) not in
                               ("functools.lru_cache", "functools.cache", "abc.abstractmethod", "functools.wraps", "typing.no_type_check", "typing.overload")]
        outer, self.locals = self.locals, {}
        for s in ast.walk(node):
            if isinstance(s, (ast.Assign, ast.AnnAssign)) and isinstance(s.value, ast.Call) and self.full(s.value.func) == "collections.defaultdict":
                self.locals.update({n: s.value.args[0] for n in binds(s)})
                s.value = placed(ast.Dict([], []), s.value)
                if isinstance(s, ast.AnnAssign):
                    s.annotation = placed(ast.Name("dict", ast.Load()), s)
        self.lift(node)
        self.generic_visit(node)
        self.locals = outer
        own = [n for s in node.body for n in walk_own(s)]
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own) and not any(isinstance(n, ast.Return) and n.value for n in own):
            node = Listed().visit(node)
            node.body = [made(node, "_yielded = []")] + node.body + [made(node, "return _yielded")]
            node.returns = placed(ast.Name("list", ast.Load()), node)
        elif node.returns is None:
            kinds = {self.kind(n.value, node) for n in own if isinstance(n, ast.Return)}
            node.returns = self.annotation(node, kinds.pop()) if len(kinds) == 1 else None
        return node

    def lift(self, node):
        """Moves functions within a function, which use none of its variables, to the top of the file."""
        parameters = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        own = bound(node.body) | parameters
        for s in list(node.body):
            if isinstance(s, ast.FunctionDef) and s.name not in self.top_names and not s.decorator_list and not own & variables(s) - bound(s.body) - {a.arg for a in ast.walk(s.args) if isinstance(a, ast.arg)}:
                node.body.remove(s)
                self.top_names.add(s.name)
                self.lifted.append(self.visit(s))

    def kind(self, value, function, seen=()):
        """The full name of the type of a value that a function returns, "" if it is not clear."""
        if isinstance(value, ast.Call):
            full = self.full(value.func)
            known = dotted(value.func) in self.classes or full.startswith("torchx.specs.") and full[13:14].isupper()
            return "torchx.specs.AppDef" if full.startswith(("torchx.components.dist.ddp", "torchx.components.utils.")) else (full or dotted(value.func)) if known else ""
        if isinstance(value, ast.Name) and value.id not in seen:
            given = [a for a in ast.walk(function.args) if isinstance(a, ast.arg) and a.arg == value.id]
            if given:
                return self.full(given[0].annotation) or dotted(given[0].annotation)
            kinds = {self.kind(n.value, function, seen + (value.id,)) for n in ast.walk(function) if value.id in binds(n) and hasattr(n, "value")}
            return kinds.pop() if len(kinds) == 1 else ""
        return {"List": "list", "ListComp": "list", "Dict": "dict", "DictComp": "dict", "JoinedStr": "str"}.get(type(value).__name__, "")

    def annotation(self, node, kind):
        """The annotation of a kind. TorchX does not know it, so that the function is no component."""
        if not kind or kind.split(".")[0] in ("typing", "collections"):
            return None
        node.helper = True
        name = "_of_" + kind.split(".")[-1] if "." in kind else kind
        if "." in kind:
            self.found[name] = kind
        return placed(ast.Name(name, ast.Load()), node)

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if self.full(node.annotation).endswith(".TypeAlias") and node.value:
            return placed(ast.Assign([node.target], parsed(node.value)), node)
        return node

    def visit_TypeAlias(self, node):
        return placed(ast.Assign([ast.Name(node.name.id, ast.Store())], node.value), node)


class Listed(ast.NodeTransformer):
    """Appends what a generator yields to a list."""

    def visit_Expr(self, node):
        method = {ast.Yield: "append", ast.YieldFrom: "extend"}.get(type(node.value))
        return made(node, "_yielded.%s(x)" % method, x=node.value.value) if method and node.value.value else node

    def visit_Return(self, node):
        return made(node, "return _yielded")
