"""Rules of calls."""


class Calls:
    def visit_Call(self, node):
        self.generic_visit(node)
        rule = {
            "itertools.product": self.product, "textwrap.dedent": self.dedent, "dict.fromkeys": self.fromkeys,
            "divmod": self.divmod, "typing.cast": self.cast,
            "itertools.chain": self.chain, "itertools.chain.from_iterable": self.chain,
            "map": self.map, "filter": self.map, "operator.itemgetter": self.getter, "operator.attrgetter": self.getter,
        }.get(self.full(node.func) or dotted(node.func))
        if rule:
            return rule(node) or node
        partial = self.globals.get(dotted(node.func))
        if isinstance(partial, ast.Call) and self.full(partial.func) == "functools.partial":
            given = {k.arg for k in node.keywords}
            return placed(ast.Call(partial.args[0], partial.args[1:] + node.args, [k for k in partial.keywords if k.arg not in given] + node.keywords), node)
        if isinstance(node.func, ast.Attribute):
            return self.method(node) or node
        if dotted(node.func) in ("max", "min") and len(node.args) == 1 and any(k.arg == "default" for k in node.keywords):
            default = next(k.value for k in node.keywords if k.arg == "default")
            node.keywords = [k for k in node.keywords if k.arg != "default"]
            return made(node, "call if values else default", call=node, values=self.listed(node.args[0]), default=default)
        return node

    def listed(self, values):
        return placed(ast.ListComp(values.elt, values.generators), values) if isinstance(values, ast.GeneratorExp) else values

    def fromkeys(self, node):
        default = node.args[1] if len(node.args) > 1 else ast.Constant(None)
        return made(node, "{_key: default for _key in keys}", keys=node.args[0], default=default)

    def divmod(self, node):
        return made(node, "(a // b, a % b)", a=node.args[0], b=node.args[1])

    def cast(self, node):
        return node.args[1] if len(node.args) == 2 else None

    def chain(self, node):
        first = node.args[0] if len(node.args) == 1 else None
        if isinstance(first, ast.Starred) or first and getattr(node.func, "attr", "") == "from_iterable":
            return made(node, "[_item for _items in lists for _item in _items]", lists=getattr(first, "value", first) if isinstance(first, ast.Starred) else first)
        return placed(ast.List([a if isinstance(a, ast.Starred) else ast.Starred(a, ast.Load()) for a in node.args], ast.Load()), node)

    def product(self, node):
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred) and not node.keywords:
            return made(node, "_product(lists)", lists=node.args[0].value)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        variables = ["_item%d" % i for i, _ in enumerate(node.args)]
        loops = " ".join("for %s in a%d" % (v, i) for i, v in enumerate(variables))
        return made(node, "[(%s,) %s]" % (", ".join(variables), loops), **{"a%d" % i: a for i, a in enumerate(node.args)})

    def dedent(self, node):
        text = node.args[0]
        return placed(ast.Constant(textwrap.dedent(text.value)), text) if isinstance(text, ast.Constant) else None

    def getter(self, node):
        value = getattr(node.args[0], "value", None)
        if len(node.args) > 1 or value is None:
            return None
        return made(node, "lambda x: x[%r]" % (value,) if self.full(node.func).endswith("itemgetter") else "lambda x: x.%s" % value)

    def map(self, node):
        """map(f, values) and filter(f, values) as comprehensions."""
        if len(node.args) != 2 or node.keywords:
            return None
        f, values = node.args
        x = f.args.args[0].arg if isinstance(f, ast.Lambda) and len(f.args.args) == 1 else "_item"
        applied = f.body if x != "_item" else ast.Name(x, ast.Load()) if isinstance(f, ast.Constant) else self.applied(node, f, x)
        form = "[applied for %s in values]" if node.func.id == "map" else "[%s for %s in values if applied]" % (x, "%s")
        return made(node, form % x, applied=applied, values=values)

    def applied(self, node, f, x):
        """f(x), also for methods such as str.lower."""
        if isinstance(f, ast.Attribute) and dotted(f.value) in ("str", "dict", "list"):
            return made(node, "%s.%s()" % (x, f.attr))
        return made(node, "f(%s)" % x, f=f)

    def visit_keyword(self, node):
        self.generic_visit(node)
        if node.arg == "key" and isinstance(node.value, ast.Attribute) and dotted(node.value.value) == "str":
            node.value = made(node.value, "lambda _x: _x.%s()" % node.value.attr)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        sign = {"operator.add": "+", "operator.mul": "*", "operator.or_": "|"}.get(self.full(node))
        return made(node, "lambda a, b: a %s b" % sign) if sign else node
