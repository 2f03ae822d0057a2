"""Rules of texts: % and .format."""

CONVERSION = re.compile(r"%(?:\((\w+)\))?([-+ #0]*)(\*|\d*)(\.(?:\*|\d*)|)[hlL]?([srdiufFeEgGxXo%])")


def field(value, spec, conversion):
    """{value!conversion:spec} of an f-string."""
    return ast.FormattedValue(value, ord(conversion) if conversion else -1, ast.JoinedStr([ast.Constant(spec)]) if spec else None)


class Texts:
    def visit_BinOp(self, node):
        self.generic_visit(node)
        text, right = node.left, node.right
        if not isinstance(node.op, ast.Mod) or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            return node
        keyed = isinstance(right, ast.Dict) and all(isinstance(k, ast.Constant) for k in right.keys)
        given = {k.value: v for k, v in zip(right.keys, right.values)} if keyed else list(right.elts if isinstance(right, ast.Tuple) else [right])
        parts, end = [], 0
        for m in CONVERSION.finditer(text.value):
            parts.append(ast.Constant(text.value[end : m.start()]))
            end, (key, flags, width, precision, letter) = m.end(), m.groups()
            if letter == "%":
                parts.append(ast.Constant("%"))
                continue
            value = given.get(key) if keyed else given.pop(0) if given and key is None else None
            if value is None or isinstance(value, ast.Starred) or "*" in (width, precision[1:]) or "#" in flags:
                return node
            parts.append(self.converted(value, flags, width, precision, letter))
        if "%" in text.value[end:] or given and not keyed:
            return node
        joined = ast.JoinedStr(parts + [ast.Constant(text.value[end:])])
        joined.single = not isinstance(right, (ast.Tuple, ast.Dict))  # Python takes a tuple for several values
        return placed(joined, node)

    def converted(self, value, flags, width, precision, letter):
        """A conversion of % as a part of an f-string, whose specs align text to the left."""
        is_text = letter in "sr"
        if letter in "diu":
            value = placed(ast.Call(ast.Name("int", ast.Load()), [value], []), value)
            letter = "d"
        spec = ("<" if "-" in flags else ">" if width and is_text else "") + ("+" if "+" in flags else " " if " " in flags else "")
        spec += ("0" if "0" in flags and "-" not in flags and not is_text else "") + width + (".0" if precision == "." else precision)
        spec = spec if is_text or letter == "d" and not spec else spec + letter
        return field(value, spec, letter if is_text else "s" if letter == "d" and not spec else "")

    def format(self, node, text):
        """text.format(…) as an f-string; None if a field needs more than a name and a spec."""
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        given, parts, count = {k.arg: k.value for k in node.keywords}, [], 0
        given.update((str(i), a) for i, a in enumerate(node.args))
        try:
            for literal, name, spec, conversion in formatter_parser(text):
                parts.append(ast.Constant(literal))
                if name is None:
                    continue
                root = re.match(r"\w*", name).group()
                rest, count = name[len(root) :], count + (not root)
                value = given.get(root or str(count - 1))
                if value is None or "{" in spec or "[" in rest or conversion == "a":
                    return None
                parts.append(field(made(node, "value" + rest, value=value), spec, conversion or ""))
        except (ValueError, SyntaxError):
            return None
        return placed(ast.JoinedStr(parts), node)
