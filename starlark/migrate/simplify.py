"""Writes parts of a Python program with simpler Python, which the port knows.

Each method of Simplify is one rule. A rule that does not apply leaves the node as it is, and the
port reports it.
"""
import ast
import re
import textwrap
from _string import formatter_parser

MANY = 2**32 - 1  # re's sign for any number
CONVERSION = re.compile(r"%(?:\((\w+)\))?([-+ #0]*)(\*|\d*)(\.(?:\*|\d*)|)[hlL]?([srdiufFeEgGxXo%])")
FILES = ("os.path.exists", "os.path.isfile", "os.path.isdir")
LEVELS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "log")
LIMIT = 1 << 30  # rounds of a while loop; the interpreter stops before


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


def field(value, spec, conversion):
    """{value!conversion:spec} of an f-string."""
    return ast.FormattedValue(value, ord(conversion) if conversion else -1, ast.JoinedStr([ast.Constant(spec)]) if spec else None)


class Simplify(ast.NodeTransformer):
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

    # Statements.

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
            if names_ and (again or any(isinstance(s, (ast.If, ast.For, ast.While, ast.AugAssign)) for s in statements)):
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

    def checks_files(self, node, test):
        """Whether a statement only refuses a file that is missing, which the port cannot know."""
        call = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        func = getattr(call, "func", None)
        is_check = self.full(func) in FILES if self.full(func) else getattr(func, "attr", "") in ("exists", "is_file", "is_dir") and not call.args
        if is_check:
            self.note(node, "a guess: that %s exists is not checked" % (dotted(call.args[0]) if call.args else dotted(func.value) or "a file"))
        return is_check

    def visit_Assert(self, node):
        self.generic_visit(node)
        return ast.copy_location(ast.Pass(), node) if isinstance(node.test, ast.Call) and self.checks_files(node, node.test) else node

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

    def visit_Try(self, node):
        self.generic_visit(node)
        if any(isinstance(s, (ast.Import, ast.ImportFrom)) for s in node.body):
            kept = [s for s in node.body + node.orelse + node.finalbody if not isinstance(s, (ast.Import, ast.ImportFrom))]
            imported = ", ".join(a.name for s in node.body if not isinstance(s, ast.Assign) for a in getattr(s, "names", []))
            if kept or any(not isinstance(s, (ast.Pass, ast.Import, ast.ImportFrom)) for h in node.handlers for s in h.body):
                self.note(node, "a guess: the import of %s succeeds" % imported)
            return kept
        if not node.handlers:
            return node.body + node.finalbody
        handler = node.handlers[0]
        caught = {dotted(t) for t in getattr(handler.type, "elts", [handler.type])} if handler.type else {"Exception"}
        if len(node.handlers) > 1 or len(node.body) != 1 or node.finalbody or handler.name and handler.name in mentioned(ast.Module(handler.body, [])):
            return node
        tests = self.safe(node.body[0], caught)
        if not tests:
            return node
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        body = node.body + node.orelse
        return placed(ast.If(placed(test, node), body, handler.body), node)

    def safe(self, node, caught):
        """The tests that a statement does not raise one of the exceptions; None if that cannot be tested."""
        any_ = bool(caught & {"Exception", "BaseException"})
        tests = []
        for n in ast.walk(node):
            test = None
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load) and not isinstance(n.slice, (ast.Slice, ast.Constant)) or (
                    isinstance(n, ast.Subscript) and isinstance(getattr(n.slice, "value", None), str) and isinstance(n.ctx, ast.Load)):
                if any_ or caught & {"KeyError", "LookupError"}:
                    test = ast.Compare(n.slice, [ast.In()], [n.value])
            elif isinstance(n, ast.Call) and dotted(n.func) in ("int", "float") and len(n.args) == 1:
                if any_ or "ValueError" in caught:
                    test = ast.Call(ast.Name("_is_" + n.func.id, ast.Load()), n.args, [])
            elif isinstance(n, ast.Call) and not self.is_tame(n):
                return None
            if test:
                tests.insert(0, test)
        return tests

    def is_tame(self, call):
        """Whether a call raises nothing that a try around it is for."""
        return dotted(call.func) in ("len", "str", "list", "dict", "bool", "sorted") or isinstance(call.func, ast.Attribute) and call.func.attr in (
            "get", "strip", "lower", "upper", "split", "append", "format", "join", "replace")

    # Expressions.

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

    # Texts.

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

    def chain(self, node):
        first = node.args[0] if len(node.args) == 1 else None
        if isinstance(first, ast.Starred) or first and getattr(node.func, "attr", "") == "from_iterable":
            return made(node, "[_item for _items in lists for _item in _items]", lists=getattr(first, "value", first) if isinstance(first, ast.Starred) else first)
        return placed(ast.List([a if isinstance(a, ast.Starred) else ast.Starred(a, ast.Load()) for a in node.args], ast.Load()), node)

    def cast(self, node):
        return node.args[1] if len(node.args) == 2 else None

    def divmod(self, node):
        return made(node, "(a // b, a % b)", a=node.args[0], b=node.args[1])

    def getter(self, node):
        value = getattr(node.args[0], "value", None)
        if len(node.args) > 1 or value is None:
            return None
        return made(node, "lambda x: x[%r]" % (value,) if self.full(node.func).endswith("itemgetter") else "lambda x: x.%s" % value)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        sign = {"operator.add": "+", "operator.mul": "*", "operator.or_": "|"}.get(self.full(node))
        return made(node, "lambda a, b: a %s b" % sign) if sign else node

    def fromkeys(self, node):
        default = node.args[1] if len(node.args) > 1 else ast.Constant(None)
        return made(node, "{_key: default for _key in keys}", keys=node.args[0], default=default)

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

    # Functions and classes.

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

    def lift(self, node):
        """Moves functions within a function, which use none of its variables, to the top of the file."""
        parameters = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        own = bound(node.body) | parameters
        for s in list(node.body):
            if isinstance(s, ast.FunctionDef) and s.name not in self.top_names and not s.decorator_list and not own & variables(s) - bound(s.body) - {a.arg for a in ast.walk(s.args) if isinstance(a, ast.arg)}:
                node.body.remove(s)
                self.top_names.add(s.name)
                self.lifted.append(self.visit(s))

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
                s.value = placed(ast.Constant(dotted(s.targets[0]).lower() if is_text else last + 1), value)
            last = getattr(getattr(s, "value", None), "value", last)

    def inherit(self, node, base):
        """Copies what a class has from its base, and the calls of super() with what they call."""
        import copy

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


class Listed(ast.NodeTransformer):
    """Appends what a generator yields to a list."""

    def visit_Expr(self, node):
        method = {ast.Yield: "append", ast.YieldFrom: "extend"}.get(type(node.value))
        return made(node, "_yielded.%s(x)" % method, x=node.value.value) if method and node.value.value else node

    def visit_Return(self, node):
        return made(node, "return _yielded")


class Replace(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


LETTERS = "abcdefghijklmnopqrstuvwxyz"
CATEGORIES = {"DIGIT": "0123456789", "SPACE": " \t\n\r\f\v", "WORD": "0123456789_" + LETTERS + LETTERS.upper()}


class Pattern:
    """A regular expression as the steps of _re_at; steps is None if it needs others."""

    def __init__(self, text, is_full):
        try:
            parser = re._parser if hasattr(re, "_parser") else __import__("sre_parse")
            parsed_text = parser.parse(text)
            self.names = {i: name for name, i in parsed_text.state.groupdict.items()}
            self.steps = [("save", 0)]
            self.sequence(parsed_text)
            self.steps += [("stop",)] * is_full + [("save", 0)]
            if parsed_text.state.flags & ~re.UNICODE:
                self.steps = None
        except (KeyError, TypeError, re.error):
            self.steps = None

    def sequence(self, items):
        for op, value in items:
            getattr(self, "op_" + str(op).lower(), self.op_run)((op, value))

    def charset(self, item):
        """The characters of an item of one character, and whether it is all others; KeyError for other items."""
        op, value = str(item[0]), item[1]
        if op == "LITERAL" or op == "NOT_LITERAL":
            return chr(value), op != "LITERAL"
        if op == "ANY":
            return "\n", True
        if op == "RANGE":
            return "".join(map(chr, range(value[0], value[1] + 1))), False
        if op == "CATEGORY":
            kind = str(value).split("_", 1)[1]
            return CATEGORIES[kind.replace("NOT_", "")], kind[:4] == "NOT_"
        if op != "IN":
            raise KeyError(op)
        parts = [v for v in value if str(v[0]) != "NEGATE"]
        if len(parts) == 1 or any(self.charset(v)[1] for v in parts):
            chars, is_not = self.charset(parts[0] if len(parts) == 1 else ("", 0))
            return chars, is_not != (len(parts) < len(value))
        return "".join(self.charset(v)[0] for v in parts), len(parts) < len(value)

    def op_run(self, item):
        self.steps.append(("run",) + self.charset(item) + (1, 1))

    def op_at(self, item):
        self.steps.append(({"AT_BEGINNING": "start", "AT_END": "end"}[str(item[1])],))

    def op_subpattern(self, item):
        group, items = item[1][0], item[1][3]
        key = self.names.get(group, group)
        self.steps += [("save", group)] * (group is not None)
        self.sequence(items)
        self.steps += [("save", group)] * (group is not None) + [("name", key, group)] * (key != group)

    def op_branch(self, item):
        self.options([lambda items=items: self.sequence(items) for items in item[1][1]])

    def options(self, writers):
        """One of several sequences, the first that fits."""
        at, ends, targets = len(self.steps), [], []
        self.steps.append(None)
        for write in writers:
            targets.append(len(self.steps))
            write()
            ends.append(len(self.steps))
            self.steps.append(None)
        self.steps[at] = ("split", targets)
        for end in ends:
            self.steps[end] = ("split", [len(self.steps)])

    def op_max_repeat(self, item):
        low, high, items = item[1]
        many = high == MANY
        try:
            self.steps.append(("run",) + self.charset(items[0] if len(items) == 1 else ("", 0)) + (low, -1 if many else high))
            return
        except KeyError:
            pass
        for _ in range(low):
            self.sequence(items)
        at = len(self.steps)
        if many:
            self.options([lambda: (self.sequence(items), self.steps.append(("split", [at]))), lambda: None])
        for _ in range(0 if many else high - low):
            self.options([lambda: self.sequence(items), lambda: None])

    def op_min_repeat(self, item):
        raise KeyError("lazy")

    op_assert = op_assert_not = op_groupref = op_possessive_repeat = op_atomic_group = op_groupref_exists = op_min_repeat
