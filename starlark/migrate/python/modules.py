"""Joins a Python program with the modules beside it.

Its result is one module. Nodes of other files have their name as "file"; functions of other files
are "helper", since TorchX finds components only in the file that it is given.
"""
import ast
import copy
import io
import json
import os
import re
import sys
import textwrap
import tokenize
from _string import formatter_parser

MAX_SOURCE = 1 << 20
MAX_MODULES = 50  # that are followed, nested imports included
MUTATORS = {"append", "extend", "insert", "update", "pop", "setdefault", "clear", "remove", "add", "discard", "popitem", "sort", "reverse"}
FOREIGN = set(getattr(sys, "stdlib_module_names", ())) | {"torchx"}


def dotted(node):
    """The text a.b.c of a name with attributes, "" for other expressions."""
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return base and base + "." + node.attr
    return getattr(node, "id", "")


def names(target):
    """The names within the left side of an assignment."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Starred):
        return names(target.value)
    return [n for e in getattr(target, "elts", []) for n in names(e)]


def binds(node):
    """The names that a node itself binds, imports aside."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        return [node.name] if node.name else []
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.comprehension, ast.NamedExpr, ast.withitem)):
        found = getattr(node, "targets", None) or [getattr(node, "target", None) or getattr(node, "optional_vars", None)]
        return [n for t in found for n in names(t)]
    return []


def bound(nodes):
    """The names that statements bind in their own scope."""
    found = set()
    for n in nodes:
        found.update(binds(n))
        if not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            found |= bound(ast.iter_child_nodes(n))
    return found


class Module:
    """A file: its definitions, and what its imports stand for."""

    def __init__(self, program, path, file, tree):
        self.path, self.file, self.body = path, file, tree.body
        program.modules[path] = self
        self.own = bound(tree.body)
        self.new = {}  # local names to their names in the joined module
        self.parts = {}  # dotted local names to modules beside this one
        self.used = []
        for n in ast.walk(tree):
            if isinstance(n, ast.Import):
                for a in n.names:
                    module = program.find(self, a.name, 0)
                    if module:
                        self.parts[a.asname or a.name] = module
                        self.used.append(module)
                n.names = [a for a in n.names if (a.asname or a.name) not in self.parts]
            elif isinstance(n, ast.ImportFrom):
                n.names = [a for a in n.names if not self.takes(program, n, a)]
        self.body = [s for s in self.body if not isinstance(s, (ast.Import, ast.ImportFrom)) or s.names]

    def takes(self, program, n, a):
        """Notes an imported name that is of a module beside this one."""
        name = a.asname or a.name
        within = program.find(self, (n.module + "." if n.module else "") + a.name, n.level)
        module = within or program.find(self, n.module or "", n.level)
        if within:
            self.parts[name] = module
        elif module and a.name in module.new:
            self.new[name] = module.new[a.name]
        elif module and a.name in module.parts:
            self.parts[name] = module.parts[a.name]
        else:
            return False
        self.used.append(module)
        return True


class Program:
    """All files of a program, joined."""

    def __init__(self, folders):
        top = folders[0] if folders else ""
        while top and os.path.exists(os.path.join(top, "__init__.py")):
            top = os.path.dirname(top)
            folders = folders + [top]  # of the package
        self.folders, self.modules, self.taken, self.imports = folders, {}, set(), {}

    def find(self, module, name, level):
        """The module of that name beside another one, None if there is none."""
        if not self.folders or not level and name.split(".")[0] in FOREIGN:
            return None
        folders = self.folders
        if level:
            folders = [os.path.dirname(module.path)]
            for _ in range(level - 1):
                folders = [os.path.dirname(folders[0])]
        for folder in folders:
            base = os.path.join(folder, *name.split(".")) if name else folder
            for path in (base + ".py", os.path.join(base, "__init__.py")):
                if path in self.modules:
                    return self.modules[path]
                if len(self.modules) < MAX_MODULES and os.path.isfile(path) and os.path.getsize(path) <= MAX_SOURCE:
                    with open(path, "rb") as f:
                        tree = ast.parse(f.read(), path)
                    return self.add(path, os.path.relpath(path, self.folders[0]), tree)
        return None

    def add(self, path, file, tree):
        """Adds a file. Names that another file has get its name as suffix."""
        module = Module(self, path, file, tree)
        here = {}
        imports(tree, here, [])
        clashing = {n for n in here if n not in module.own and self.imports.get(n, here[n]) != here[n]}
        for name in sorted(module.own | clashing):
            new = name
            while file and (new in self.taken or new in self.imports and new not in here) or new != name and new in module.own | set(here):
                new += "_" + os.path.basename(os.path.dirname(path) if path.endswith("__init__.py") else path[:-3])
            module.new[name] = new
            if name in module.own:
                self.taken.add(new)
        self.imports.update({module.new.get(n, n): full for n, full in here.items()})
        if file:
            for n in ast.walk(tree):
                n.file = file
                n.helper = True
        rename = Rename(module)
        module.body = [rename.visit(s) for s in module.body]
        return module

    def joined(self, main):
        """The statements of all modules that main uses, each before those that use it."""
        body, seen = [], set()

        def visit(module):
            if module.path not in seen:
                seen.add(module.path)
                for m in module.used:
                    visit(m)
                doc = ast.get_docstring(ast.Module(module.body, [])) is not None
                if module is main and doc:
                    body.insert(0, module.body[0])
                body.extend(module.body[1 if doc else 0 :])

        visit(main)
        return body


class Rename(ast.NodeTransformer):
    """Gives the names of a module those that they have in the joined module."""

    def __init__(self, module):
        self.module, self.hidden = module, [set()]

    def inner(self, node):
        args = getattr(node, "args", None)
        body = node.body if isinstance(node.body, list) else [node.body]
        parameters = {a.arg for a in ast.walk(args) if isinstance(a, ast.arg)} if args else set()
        if not isinstance(node, ast.Lambda):
            node.name = self.renamed(node.name)
        globals_ = {n for s in ast.walk(node) if isinstance(s, ast.Global) for n in s.names}
        self.hidden.append(self.hidden[-1] | parameters | (set() if isinstance(node, ast.ClassDef) else bound(body) - globals_))
        self.generic_visit(node)
        self.hidden.pop()
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = inner

    def renamed(self, name):
        return name if name in self.hidden[-1] else self.module.new.get(name, name)

    def visit_Name(self, node):
        node.id = self.renamed(node.id)
        return node

    def visit_Attribute(self, node):
        base = dotted(node.value)
        module = self.module.parts.get(base) if base.split(".")[0] not in self.hidden[-1] else None
        if module and node.attr in module.new:
            return ast.copy_location(ast.Name(module.new[node.attr], node.ctx), node)
        self.generic_visit(node)
        return node
