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

// ownRules are ours; the others are those of buildtools (warnings).
func ownRules() []Rule {
	return []Rule{
		{ruleSyntax, "the file cannot be parsed", false},
		{ruleNames, "a name is not defined, or defined twice", false},
		{ruleDocstring, "a component (a function without _ in front) has no docstring, so its help is empty", false},
		{ruleUndocumented, "a component's argument is not in the Args: section of its docstring", false},
		{ruleNoSuch, "the docstring describes an argument that the function does not have", true},
		{ruleType, "the docstring gives an argument a type that does not exist", true},
		{ruleDefault, "an argument's default is no value of its type", true},
		{ruleKwargs, "a component takes **kwargs or an argument called help, which a command line cannot give", false},
		{ruleNoApp, "a component returns no app, or None instead of one", false},
		{ruleMacro, "a text has a misspelled macro such as ${replicaid}", false},
		{analysis.RuleLoad, "a load fails: its file or name does not exist, is private, does not parse or loads this file", false},
		{analysis.RuleAttribute, "a module or value does not have an attribute", false},
		{analysis.RuleCall, "a call has unknown, missing or too many arguments", false},
		{ruleResource, "specs.Role(...) says nothing about the resources that a replica needs", false},
	}
}

// Rules lists what is looked for, by name.
func Rules() []Rule {
	rules := ownRules()
	for _, w := range warnings() {
		rules = append(rules, w.Rule)
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}

// A warning is one of buildtools'; its name there is that of the rule, unless category says otherwise.
type warning struct {
	Rule
	category string
	title    string // of its fix
}

// warnings are those of buildtools about mistakes in every Starlark dialect, not about Bazel's
// style.
func warnings() []warning {
	return []warning{
		{Rule{"confusing-name", "a variable is called l, I or O", false}, "confusing-name", ""},
		{Rule{"dict-method-named-arg", "a method of a dict is given its argument by name, which it does not take", false}, "dict-method-named-arg", ""},
		{Rule{"docstring-header", "a docstring does not begin with a summary of one line", false}, "function-docstring-header", ""},
		{Rule{"list-append", "x += [y] makes a list that is thrown away; x.append(y) does not", true}, "list-append", "use append"},
		{Rule{"no-effect", "a statement does nothing", false}, "no-effect", ""},
		{Rule{"return-value", "some paths through a function return a value, others do not", false}, "return-value", ""},
		{Rule{"string-iteration", "a string is iterated or indexed like a list", false}, "string-iteration", ""},
		{Rule{"uninitialized", "a variable may have no value yet", false}, "uninitialized", ""},
		{Rule{"unreachable", "a statement can never be reached", false}, "unreachable", ""},
		{Rule{ruleUnusedLoad, "a loaded name is not used", true}, "load", "remove it"},
		{Rule{"unused-variable", "a variable is never used; call it _ or _name if that is meant", false}, "unused-variable", ""},
	}
}

// category is what buildtools calls a rule of ours.
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

// firstSentence is the beginning of a message of buildtools; the rest is advice about Bazel.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, ". ")
	text = strings.TrimSuffix(text, ".")
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}

// warn runs one warning. A defect in it must not hide what the other rules find.
func (l *linter) warn(category string) (found []*warn.LinterFinding) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	return warn.FileWarningMap[category](l.tree)
}

// replacements are the edits of a fix, nil if there is none.
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
		edits = append(edits, Edit{l.at(start), l.at(end), l.print(r.New, start)})
	}
	return edits
}

// print lays an expression out that begins at an offset of the file.
func (l *linter) print(e build.Expr, offset int) string {
	*e.Comment() = build.Comments{} // those stand outside of what is replaced
	file := &build.File{Type: build.TypeDefault, Stmt: []build.Expr{e}}
	text := strings.TrimSuffix(string(build.FormatWithoutRewriting(file)), "\n")
	line := l.Text[l.Start(l.at(offset).Line-1):offset]
	margin := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return strings.ReplaceAll(text, "\n", "\n"+margin)
}

// removal takes a statement away, with its lines if it has them for itself.
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
