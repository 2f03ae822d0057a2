// Package pattern finds numbers in the lines of a log by regular expressions (RE2) that a
// component or the user declares. Lazy is for the expressions of torchx itself.
package pattern

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Limits of patterns.
const (
	maxPatterns = 32
	maxPattern  = 1000 // bytes
)

// StepName is the name of the pattern that gives the step of the others.
const StepName = "step"

// Set is the patterns of a role.
type Set struct {
	Step *Matcher // nil: lines have no step
	All  []Matcher
}

// Parse compiles patterns by name: RE2, whose first group is the number. An error
// names the pattern.
func Parse(text map[string]string) (*Set, error) {
	p, err := parse(text)
	if err == nil && p.Step != nil && len(p.All) == 0 {
		return nil, errors.New("the only metric is step: add a pattern for another one")
	}
	return p, err
}

// Check is Parse for patterns that others may complete.
func Check(text map[string]string) error {
	_, err := parse(text)
	return err
}

func parse(text map[string]string) (*Set, error) {
	if len(text) > maxPatterns {
		return nil, fmt.Errorf("%d patterns, want at most %d", len(text), maxPatterns)
	}
	p := &Set{}
	for _, name := range slices.Sorted(maps.Keys(text)) {
		m, err := parsePattern(name, text[name])
		if err != nil {
			return nil, fmt.Errorf("metric %.100q: %w", name, err)
		}
		if name == StepName {
			p.Step = m
		} else {
			p.All = append(p.All, *m)
		}
	}
	return p, nil
}

func parsePattern(name, text string) (*Matcher, error) {
	switch {
	case !ValidName(name):
		return nil, fmt.Errorf("the name must have 1 to %d bytes and no control characters", MaxName)
	case len(text) > maxPattern:
		return nil, fmt.Errorf("the pattern has %d bytes, want at most %d", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("invalid pattern: %s: `%s` (want RE2)", bad.Code, bad.Expr)
		}
		return nil, err
	}
	if re.NumSubexp() == 0 {
		return nil, fmt.Errorf("pattern `%s` has no group for the number (write one in parentheses)", text)
	}
	return newMatcher(name, re, text), nil
}

// MaxName is the longest name of a metric in bytes.
const MaxName = 200

// ValidName reports whether a name of a metric can be kept and printed.
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if !unicode.IsGraphic(r) {
			return false
		}
	}
	return true
}
