// Package starlint finds errors and suspicious code in component files without
// running them. Check returns Findings, some with a Fix; Apply applies fixes.
//
// The rules (rules.go) are about syntax and names (linter.go), components
// (components.go), their defaults (defaults.go) and results (returns.go), and
// mistakes that buildifier finds too (suspicious.go); package analysis adds loads,
// attributes and calls. A comment on the same line or above turns rules off:
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
		return cmp.Or(cmp.Compare(a.Start.Offset, b.Start.Offset), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
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

// Apply applies the fixes of findings to src and returns their number. Of overlapping fixes only the
// first is applied.
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
