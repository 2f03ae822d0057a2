"""Rules of assignments."""


class Assigns:
    def visit_Assign(self, node):
        call, target = node.value, node.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(call, ast.Tuple):
            split = self.parts(node)
            if split:
                return [self.visit(s) for s in split]
        if isinstance(target, (ast.Tuple, ast.List)) and sum(isinstance(t, ast.Starred) for t in target.elts) == 1 and len(node.targets) == 1:
            self.generic_visit(node)
            return self.unpacked(node, target)
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice) and not target.slice.step and isinstance(target.value, ast.Name):
            self.generic_visit(node)
            return self.splice(node, target)
        if isinstance(call, ast.Call) and self.full(call.func) == "collections.namedtuple" and len(call.args) == 2:
            fields = call.args[1]
            listed = fields.value.replace(",", " ").split() if isinstance(fields, ast.Constant) else [getattr(e, "value", "") for e in getattr(fields, "elts", [])]
            defaults = [ast.Constant(None)] * len(listed)
            given = next((k.value.elts for k in call.keywords if k.arg == "defaults" and hasattr(k.value, "elts")), [])
            body = [ast.AnnAssign(ast.Name(f, ast.Store()), ast.Name("object", ast.Load()), None, 1) for f in listed]
            for s, d in zip(reversed(body), reversed(given)):
                s.value = d
            self.found["_NamedTuple"] = "typing.NamedTuple"
            return placed(ast.ClassDef(node.targets[0].id, [ast.Name("_NamedTuple", ast.Load())], [], body, []), node)
        self.generic_visit(node)
        return node

    def parts(self, node):
        """a.x, a.y = v, w as one assignment each; None if an assignment could change a later value."""
        target, value = node.targets[0], node.value
        pairs = list(zip(target.elts, value.elts))
        roots = {r for t, _ in pairs for r in changed(ast.Assign([t], value))}
        if len(node.targets) > 1 or len(pairs) != len(target.elts) or len(pairs) != len(value.elts):
            return None
        if all(isinstance(t, ast.Name) for t, _ in pairs) or roots & set().union(*(variables(v) for _, v in pairs)):
            return None
        return [placed(ast.Assign([t], v), node) for t, v in pairs]

    def unpacked(self, node, target):
        """first, *rest, last = values"""
        at = next(i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred))
        behind = len(target.elts) - at - 1
        name, assign = self.temporary(node, ast.Call(ast.Name("list", ast.Load()), [node.value], []))
        out = [assign]
        for i, t in enumerate(target.elts):
            index = "%d:%s" % (at, "-%d" % behind if behind else "") if i == at else str(i if i < at else i - len(target.elts))
            out.append(placed(ast.Assign([t.value if i == at else t], made(node.value, "%s[%s]" % (name, index))), node))
        return out

    def splice(self, node, target):
        """x[low:high] = new"""
        x, low, high = target.value, target.slice.lower or ast.Constant(0), target.slice.upper
        value = made(node.value, "x[:low] + list(new)" + (" + x[high:]" if high else ""), low=low, high=high, new=node.value, x=ast.Name(x.id, ast.Load()))
        name, assign = self.temporary(node, value)
        return [assign, made(node, "%s.clear()" % x.id), made(node, "%s.extend(%s)" % (x.id, name))]

    def visit_Subscript(self, node):
        self.generic_visit(node)
        factory = self.locals.get(dotted(node.value))
        if factory is None or not isinstance(node.ctx, ast.Load):
            return node
        plain = {"int": "0", "float": "0.0", "str": "''", "list": "[]", "dict": "{}"}.get(dotted(factory), "factory()")
        return made(node, "values.setdefault(key, %s)" % plain, values=node.value, key=node.slice, factory=factory)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        target = node.target
        if isinstance(target, ast.Subscript) and dotted(target.value) in self.locals:
            old = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
            return placed(ast.Assign([target], ast.BinOp(self.visit_Subscript(old), node.op, node.value)), node)
        return node
