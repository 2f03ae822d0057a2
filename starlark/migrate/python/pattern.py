"""Regular expressions as lists of steps."""

MANY = 2**32 - 1  # re's sign for any number
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
