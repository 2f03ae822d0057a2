// Package starlint finds errors and suspicious code in component files without
// running them. Check returns Findings, some with a Fix; Apply applies fixes.
//
// The rules are about syntax and names (linter.go), components and their defaults
// (components.go) and results (returns.go), and mistakes that buildifier finds too
// (suspicious.go); package analysis adds loads, attributes and calls. A comment on the
// same line or above turns rules off:
//
//	# lint: disable=RULE, RULE
//	# buildifier: disable=RULE
package starlint

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	"torchx/starlark/analysis"
)

// Position is a position in a file.
type Position struct {
	Line   int `json:"line"`   // from 1
	Col    int `json:"col"`    // from 1, in characters
	Offset int `json:"offset"` // from 0, in bytes
}

// Edit replaces the text between two positions of the linted file.
type Edit struct {
	Start Position `json:"start"`
	End   Position `json:"end"` // exclusive
	Text  string   `json:"text"`
}

// Fix is a change that resolves a finding without changing the meaning of the file.
type Fix struct {
	Title string `json:"title"` // imperative: "remove the load of x"
	Edits []Edit `json:"edits"` // do not overlap
}

// Severity is the severity of a finding.
type Severity string

// The severities. A file with an error cannot be run.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one problem of a file.
type Finding struct {
	Rule     string   `json:"rule"` // one of Rules
	Severity Severity `json:"severity"`
	File     string   `json:"file"` // as given to Check
	Start    Position `json:"start"`
	End      Position `json:"end"`     // after the last character
	Message  string   `json:"message"` // one line, without the position
	Fix      *Fix     `json:"fix"`     // may be nil
}

// Rule describes a check.
type Rule struct {
	Name, Summary string
	// Fixable says that findings can have a Fix.
	Fixable bool
}

// Check lints a file and returns its findings sorted by position. It follows loads if o is not nil.
// Rules about components do not apply to test files.
func Check(file *analysis.File, o analysis.Opener) []Finding {
	l := newLinter(file.Name, []byte(file.Text))
	l.run()
	for _, p := range file.Problems(o) {
		l.add(Finding{Rule: p.Rule, Severity: Error, Message: strings.TrimSuffix(p.Text, "."), Start: l.at(p.From - l.mark), End: l.at(p.To - l.mark)})
	}
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start.Offset, b.Start.Offset), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message))
	})
	return l.findings
}

// maxRounds bounds how often FixAll lints a file: a fix can reveal another finding.
const maxRounds = 10

// FixAll applies fixes until no finding has one. It returns the new source, the number of fixes and
// the remaining findings.
func FixAll(file *analysis.File, o analysis.Opener) (out []byte, fixed int, left []Finding) {
	out, left = []byte(file.Text), Check(file, o)
	for range maxRounds {
		next, n := Apply(out, left)
		if n == 0 {
			break
		}
		now := Check(analysis.New(file.Name, file.Source, string(next), nil), o)
		if breaks(left, now) {
			break
		}
		out, fixed, left = next, fixed+n, now
	}
	return out, fixed, left
}

// breaks reports whether a fix added errors that keep the file from running.
func breaks(before, after []Finding) bool {
	count := func(list []Finding) (n int) {
		for i := range list {
			if r := list[i].Rule; r == ruleSyntax || r == ruleNames {
				n++
			}
		}
		return n
	}
	return count(after) > count(before)
}

// Apply applies the fixes of findings to src and returns their number. Of overlapping fixes only
// the first is applied.
func Apply(src []byte, findings []Finding) ([]byte, int) {
	var applied edits
	fixed := 0
	for i := range findings {
		if fix := findings[i].Fix; fix != nil && applied.add(fix.Edits) {
			fixed++
		}
	}
	var out bytes.Buffer
	at := 0
	for _, e := range applied {
		out.Write(src[at:e.Start.Offset])
		out.WriteString(e.Text)
		at = e.End.Offset
	}
	out.Write(src[at:])
	return out.Bytes(), fixed
}

// edits are sorted and do not touch each other.
type edits []Edit

// add inserts the edits of a fix, unless one of them touches an edit.
func (e *edits) add(more []Edit) bool {
	for _, m := range more {
		if i := e.search(m); i < len(*e) && (*e)[i].Start.Offset <= m.End.Offset {
			return false
		}
	}
	for _, m := range more {
		*e = slices.Insert(*e, e.search(m), m)
	}
	return true
}

// search returns the index of the first edit that does not end before m.
func (e *edits) search(m Edit) int {
	return sort.Search(len(*e), func(i int) bool { return (*e)[i].End.Offset >= m.Start.Offset })
}

// Names of rules.
const (
	ruleSyntax        = "syntax"
	ruleNames         = "names"
	ruleDocstring     = "missing-docstring"
	ruleUndocumented  = "undocumented-argument"
	ruleNoSuch        = "unknown-argument"
	ruleType          = "unknown-type"
	ruleDefault       = "default-type"
	ruleKwargs        = "component-kwargs"
	ruleResource      = "role-without-resource"
	ruleNoApp         = "no-app"
	ruleMacro         = "unknown-macro"
	ruleConfusing     = "confusing-name"
	ruleNamedDefault  = "dict-method-named-arg"
	ruleHeader        = "docstring-header"
	ruleAppend        = "list-append"
	ruleNoEffect      = "no-effect"
	ruleReturn        = "return-value"
	ruleString        = "string-iteration"
	ruleUninitialized = "uninitialized"
	ruleUnreachable   = "unreachable"
	ruleUnusedLoad    = "unused-load"
	ruleUnused        = "unused-variable"
)

// Rules lists all rules, sorted by name.
func Rules() []Rule {
	return []Rule{
		{analysis.RuleLoad, "a load fails: its file or name does not exist, is private, does not parse or loads this file", false},
		{ruleKwargs, "a component takes **kwargs or an argument called help, which a command line cannot set", false},
		{ruleConfusing, "a variable is called l, I or O", false},
		{ruleDefault, "an argument's default is not of its type", true},
		{ruleNamedDefault, "a method of a dict is called with a named argument, which it does not accept", false},
		{ruleHeader, "a docstring does not begin with a summary of one line", false},
		{ruleAppend, "x += [y] creates a temporary list; x.append(y) does not", true},
		{ruleDocstring, "a component (a function without a leading _) has no docstring, so its help is empty", false},
		{ruleNames, "a name is not defined, or defined twice", false},
		{ruleNoApp, "a component returns no app, or None instead of one", false},
		{ruleNoEffect, "a statement does nothing", false},
		{ruleReturn, "some paths through a function return a value, others do not", false},
		{ruleResource, "specs.Role(...) does not state the resources that a replica needs", false},
		{ruleString, "a string is iterated or indexed like a list", false},
		{ruleSyntax, "the file cannot be parsed", false},
		{ruleUndocumented, "a component's argument is not in the Args: section of its docstring", false},
		{ruleUninitialized, "a variable may be used before it has a value", false},
		{ruleNoSuch, "the docstring describes an argument that the function does not have", true},
		{analysis.RuleAttribute, "a module or value does not have an attribute", false},
		{ruleMacro, "a string has a misspelled macro such as ${replicaid}", false},
		{ruleType, "the docstring gives an argument a type that does not exist", true},
		{ruleUnreachable, "a statement can never be reached", false},
		{ruleUnusedLoad, "a loaded name is not used", true},
		{ruleUnused, "a variable is never used; name it _ or _name if that is intended", false},
		{analysis.RuleCall, "a call has unknown, missing or too many arguments", false},
	}
}
