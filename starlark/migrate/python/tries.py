"""Rules of try, and of tests whether files exist."""

FILES = ("os.path.exists", "os.path.isfile", "os.path.isdir")


class Tries:
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
        if len(node.handlers) > 1 or node.finalbody or handler.name and handler.name in mentioned(ast.Module(handler.body, [])):
            return node
        body, is_tested = node.orelse, False
        for s in reversed(node.body):
            tests = self.safe(s, caught)
            if tests is None or isinstance(s, (ast.If, ast.For, ast.While, ast.Try, ast.With)):
                return node
            body, is_tested = [s] + body, is_tested or bool(tests)
            if tests:
                test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
                body = [placed(ast.If(placed(test, s), body, copy.deepcopy(handler.body)), s)]
        return body if is_tested else node

    def safe(self, node, caught):
        """The tests that a statement does not raise one of the exceptions; None if that cannot be tested."""
        any_ = bool(caught & {"Exception", "BaseException"})
        tests = []
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Tuple) and getattr(getattr(node.value, "func", None), "attr", "") == "split" and (any_ or "ValueError" in caught):
            tests.append(made(node.value, "len(values) == %d" % len(target.elts), values=node.value))
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
