"""Rules of methods, and of functions of re."""

LEVELS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "log")


class Methods:
    def method(self, node):
        """The rules of methods."""
        base, name = node.func.value, node.func.attr
        if name in ("split", "rsplit") and node.keywords:
            given = {k.arg: k.value for k in node.keywords}
            separator = node.args[0] if node.args else given.get("sep", ast.Constant(None))
            node.args, node.keywords = [separator] + [given[k] for k in ("maxsplit",) if k in given], []
            placed(separator, node)
        if name == "isdisjoint" and len(node.args) == 1:
            return made(node, "not base.intersection(other)", base=base, other=node.args[0])
        if name in LEVELS and len(node.args) > 1 and isinstance(node.args[0], ast.Constant):
            text = self.visit_BinOp(placed(ast.BinOp(node.args[0], ast.Mod(), ast.Tuple(node.args[1:], ast.Load())), node))
            node.args = [text] if isinstance(text, ast.JoinedStr) else node.args
        text = base if isinstance(base, ast.Constant) else self.globals.get(dotted(base))
        if name == "format" and isinstance(text, ast.Constant) and isinstance(text.value, str):
            return self.format(node, text.value)
        template = base if isinstance(base, ast.Call) else self.globals.get(dotted(base))
        if name in ("substitute", "safe_substitute") and isinstance(template, ast.Call) and self.full(template.func) == "string.Template":
            values = node.args[:1] or [ast.Dict([ast.Constant(k.arg) for k in node.keywords], [k.value for k in node.keywords])]
            return made(node, "_substitute(text, values, %s)" % (name == "safe_substitute"), text=template.args[0], values=placed(values[0], node))
        pattern = self.globals.get(dotted(base))
        if isinstance(pattern, ast.Call) and self.full(pattern.func) == "re.compile":
            return self.regex(placed(ast.Call(ast.Name("re." + name, ast.Load()), pattern.args[:1] + node.args, node.keywords), node), name)
        if dotted(base) and self.full(base) == "re":
            return self.regex(node, name)
        return None

    def regex(self, node, name):
        """re.match(pattern, text) and its relatives, with the pattern as a list of steps."""
        pattern = self.globals.get(dotted(node.args[0]), node.args[0]) if node.args else None
        is_plain = isinstance(pattern, ast.Constant) and isinstance(pattern.value, str) and not node.keywords
        if not is_plain or name not in ("match", "fullmatch", "search", "sub", "split", "findall") or len(node.args) != (3 if name == "sub" else 2):
            return None
        steps = Pattern(pattern.value, name == "fullmatch").steps
        if steps is None or name == "sub" and not isinstance(node.args[1], ast.Constant):
            return None
        function = ast.Name("_re_" + ("match" if name == "fullmatch" else name), ast.Load())
        return placed(ast.Call(function, [ast.parse(repr(steps), mode="eval").body] + node.args[1:], []), node)
