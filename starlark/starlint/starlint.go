// Package starlint finds errors and doubtful code in component files without
// running them. Check returns Findings, some of which have a Fix; Apply makes them.
//
// The rules are a fixed list of warnings of github.com/bazelbuild/buildtools
// (rules.go) and our own about syntax and names (linter.go), components
// (components.go), their defaults (defaults.go) and results (returns.go); package
// analysis adds loads, attributes and calls. A comment beside or above the
// place turns rules off there:
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

// Position is a place in a file.
type Position struct {
	Line   int `json:"line"`   // from 1
	Col    int `json:"col"`    // from 1, in characters
	Offset int `json:"offset"` // from 0, in bytes
}

// Edit replaces the text between two places of the file as it was linted.
type Edit struct {
	Start Position `json:"start"`
	End   Position `json:"end"` // the first that stays
	Text  string   `json:"text"`
}

// Fix is a change that ends a finding and keeps what the file means.
type Fix struct {
	Title string `json:"title"` // what it does, as an order: "remove the load of x"
	Edits []Edit `json:"edits"` // areApart from one another
}

// Severity says what a finding means.
type Severity string

// The severities: a file with an error cannot be run.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one thing that is wrong with a file.
type Finding struct {
	Rule     string   `json:"rule"` // one of Rules
	Severity Severity `json:"severity"`
	File     string   `json:"file"` // as it was given
	Start    Position `json:"start"`
	End      Position `json:"end"`     // behind the last character
	Message  string   `json:"message"` // one line without a place
	Fix      *Fix     `json:"fix"`     // nil if there is none
}

// Rule describes one thing that is looked for.
type Rule struct {
	Name, Summary string
	// Fixable: findings can have a Fix.
	Fixable bool
}

// Check lints a file and returns its findings by position. It follows loads if there is an opener.
// Rules about components do not apply to tests.
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

// maxRounds bounds how often FixAll lints a file: a fix can uncover another finding.
const maxRounds = 10

// FixAll makes the fixes of a file until none are left. It returns the new source, the number of
// fixes and the findings that are left.
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

// breaks reports whether a fixed file cannot run for another reason than before: a fix must not be
// worse than none.
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

// Apply makes the fixes of findings in src and counts them. Of overlapping fixes it makes the first
// only.
func Apply(src []byte, findings []Finding) ([]byte, int) {
	var made edits
	fixed := 0
	for i := range findings {
		if fix := findings[i].Fix; fix != nil && made.add(fix.Edits) {
			fixed++
		}
	}
	var out bytes.Buffer
	at := 0
	for _, e := range made {
		out.Write(src[at:e.Start.Offset])
		out.WriteString(e.Text)
		at = e.End.Offset
	}
	out.Write(src[at:])
	return out.Bytes(), fixed
}

// edits are sorted and do not touch one another.
type edits []Edit

// add inserts the edits of a fix, which are apart, unless one touches another.
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
