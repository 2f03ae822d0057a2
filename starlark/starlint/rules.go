package starlint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bazelbuild/buildtools/build"
	"github.com/bazelbuild/buildtools/warn"

	"torchx/starlark/analysis"
)

// Names of our own rules.
const (
	ruleSyntax       = "syntax"
	ruleNames        = "names"
	ruleDocstring    = "missing-docstring"
	ruleUndocumented = "undocumented-argument"
	ruleNoSuch       = "unknown-argument"
	ruleType         = "unknown-type"
	ruleDefault      = "default-type"
	ruleKwargs       = "component-kwargs"
	ruleResource     = "role-without-resource"
	ruleNoApp        = "no-app"
	ruleMacro        = "unknown-macro"
	ruleUnusedLoad   = "unused-load"
)

// ownRules returns our rules; the others come from buildtools (warnings).
func ownRules() []Rule {
	return []Rule{
		{ruleSyntax, "the file cannot be parsed", false},
		{ruleNames, "a name is not defined, or defined twice", false},
		{ruleDocstring, "a component (a function without a leading _) has no docstring, so its help is empty", false},
		{ruleUndocumented, "a component's argument is not in the Args: section of its docstring", false},
		{ruleNoSuch, "the docstring describes an argument that the function does not have", true},
		{ruleType, "the docstring gives an argument a type that does not exist", true},
		{ruleDefault, "an argument's default is not of its type", true},
		{ruleKwargs, "a component takes **kwargs or an argument called help, which a command line cannot set", false},
		{ruleNoApp, "a component returns no app, or None instead of one", false},
		{ruleMacro, "a string has a misspelled macro such as ${replicaid}", false},
		{analysis.RuleLoad, "a load fails: its file or name does not exist, is private, does not parse or loads this file", false},
		{analysis.RuleAttribute, "a module or value does not have an attribute", false},
		{analysis.RuleCall, "a call has unknown, missing or too many arguments", false},
		{ruleResource, "specs.Role(...) does not state the resources that a replica needs", false},
	}
}

// Rules lists all rules, sorted by name.
func Rules() []Rule {
	rules := ownRules()
	for _, w := range warnings() {
		rules = append(rules, w.Rule)
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}

// A warning is a rule of buildtools. category is its name there, usually the same.
type warning struct {
	Rule
	category string
	title    string // the title of its fix
}

// warnings returns the rules of buildtools about mistakes in every Starlark dialect, without those
// about Bazel's style.
func warnings() []warning {
	return []warning{
		{Rule{"confusing-name", "a variable is called l, I or O", false}, "confusing-name", ""},
		{Rule{"dict-method-named-arg", "a method of a dict is called with a named argument, which it does not accept", false}, "dict-method-named-arg", ""},
		{Rule{"docstring-header", "a docstring does not begin with a summary of one line", false}, "function-docstring-header", ""},
		{Rule{"list-append", "x += [y] creates a temporary list; x.append(y) does not", true}, "list-append", "use append"},
		{Rule{"no-effect", "a statement does nothing", false}, "no-effect", ""},
		{Rule{"return-value", "some paths through a function return a value, others do not", false}, "return-value", ""},
		{Rule{"string-iteration", "a string is iterated or indexed like a list", false}, "string-iteration", ""},
		{Rule{"uninitialized", "a variable may be used before it has a value", false}, "uninitialized", ""},
		{Rule{"unreachable", "a statement can never be reached", false}, "unreachable", ""},
		{Rule{ruleUnusedLoad, "a loaded name is not used", true}, "load", "remove it"},
		{Rule{"unused-variable", "a variable is never used; name it _ or _name if that is intended", false}, "unused-variable", ""},
	}
}

// category returns the name of a rule in buildtools.
func category(rule string) string {
	for _, w := range warnings() {
		if w.Name == rule {
			return w.category
		}
	}
	return rule
}

// bazel runs the warnings of buildtools.
func (l *linter) bazel() {
	for _, w := range warnings() {
		for _, found := range l.warn(w.category) {
			f := Finding{
				Rule: w.Name, Severity: Warning, Message: firstSentence(found.Message),
				Start: l.at(l.inTree(found.Start)), End: l.at(l.inTree(found.End)),
			}
			if fix := l.replacements(found.Replacement); fix != nil && w.title != "" {
				f.Fix = &Fix{Title: w.title, Edits: fix}
			}
			l.add(f)
		}
	}
}

// firstSentence returns the first sentence of a message of buildtools; the rest is advice about Bazel.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, ". ")
	text = strings.TrimSuffix(text, ".")
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}

// warn runs one warning. A panic in it must not hide the findings of other rules.
func (l *linter) warn(category string) (found []*warn.LinterFinding) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	return warn.FileWarningMap[category](l.tree)
}

// replacements returns the edits of a fix, nil if there is no fix.
func (l *linter) replacements(list []warn.LinterReplacement) []Edit {
	var edits []Edit
	for _, r := range list {
		if r.Old == nil || *r.Old == nil {
			return nil
		}
		from, to := (*r.Old).Span()
		start, end := l.inTree(from), l.inTree(to)
		if r.New == nil {
			edits = append(edits, l.removal(start, end))
			continue
		}
		text := l.print(r.New, start)
		if !keepsMeaning(r.New) || strings.Count(text, "#") != strings.Count(l.Text[start:end], "#") {
			return nil
		}
		edits = append(edits, Edit{l.at(start), l.at(end), text})
	}
	return edits
}

// keepsMeaning reports whether a replacement has the same effect as the code. For x.append(y), x must
// be a plain name: the elements of a tuple and the fields of a struct cannot be assigned, and 10.append
// is not valid code.
func keepsMeaning(e build.Expr) bool {
	call, ok := e.(*build.CallExpr)
	if !ok {
		return true
	}
	dot, ok := call.X.(*build.DotExpr)
	if !ok {
		return false
	}
	_, ok = dot.X.(*build.Ident)
	return ok
}

// print formats an expression that begins at an offset of the file.
func (l *linter) print(e build.Expr, offset int) string {
	*e.Comment() = build.Comments{} // comments are outside of the replaced text
	file := &build.File{Type: build.TypeDefault, Stmt: []build.Expr{e}}
	text := strings.TrimSuffix(string(build.FormatWithoutRewriting(file)), "\n")
	line := l.Text[l.Start(l.at(offset).Line-1):offset]
	margin := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return strings.ReplaceAll(text, "\n", "\n"+margin)
}

// removal deletes a statement, with its lines if they contain nothing else.
func (l *linter) removal(start, end int) Edit {
	from, to := start, end
	for from > 0 && (l.Text[from-1] == ' ' || l.Text[from-1] == '\t') {
		from--
	}
	for to < len(l.Text) && strings.ContainsRune(" \t\r", rune(l.Text[to])) {
		to++
	}
	if (from == 0 || l.Text[from-1] == '\n') && (to == len(l.Text) || l.Text[to] == '\n') {
		return Edit{l.at(from), l.at(min(to+1, len(l.Text))), ""}
	}
	return Edit{l.at(start), l.at(end), ""}
}
