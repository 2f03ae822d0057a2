package metrics

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"
)

// Limits of patterns.
const (
	MaxPatterns = 32
	maxPattern  = 1000 // bytes
)

// StepName is the pattern, and the key of a line of JSON, that gives the step of the others.
const StepName = "step"

// Patterns find metrics in the lines of a log.
type Patterns struct {
	step *matcher // nil: lines have no step
	all  []matcher
	Text map[string]string // as given
}

// ParsePatterns compiles patterns by name: RE2, whose first group is the number. An error
// names the pattern.
func ParsePatterns(text map[string]string) (*Patterns, error) {
	if len(text) > MaxPatterns {
		return nil, fmt.Errorf("%d patterns, want at most %d", len(text), MaxPatterns)
	}
	p := &Patterns{Text: text}
	for _, name := range slices.Sorted(maps.Keys(text)) {
		m, err := parsePattern(name, text[name])
		if err != nil {
			return nil, fmt.Errorf("metric %s: %w", quoted(name), err)
		}
		if name == StepName {
			p.step = m
		} else {
			p.all = append(p.all, *m)
		}
	}
	if p.step != nil && len(p.all) == 0 {
		return nil, errors.New("the only pattern is that of step: add one for a metric")
	}
	return p, nil
}

func quoted(name string) string {
	if len(name) > 60 {
		name = name[:60] + "..."
	}
	return fmt.Sprintf("%q", name)
}

func parsePattern(name, text string) (*matcher, error) {
	switch {
	case !validName(name):
		return nil, fmt.Errorf("the name must have 1 to %d bytes and no control characters", MaxName)
	case len(text) > maxPattern:
		return nil, fmt.Errorf("the pattern has %d bytes, want at most %d", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("invalid pattern: %s: `%s` (want RE2)", bad.Code, bad.Expr)
		}
		return nil, err
	}
	if re.NumSubexp() == 0 {
		return nil, fmt.Errorf("pattern `%s` has no group for the number (write one in parentheses)", text)
	}
	return newMatcher(name, re, text), nil
}

// Scanner finds metrics in the log of one replica.
type Scanner struct {
	patterns *Patterns
	to       Reporter
	key      Key
	lines    *Lines // nil: lines of JSON are not metrics

	// Step is the last step in the log, for values on lines without one.
	Step    int64
	HasStep bool

	next []int // per pattern: where the next line may match
}

// NewScanner returns a scanner of a replica's log. With lines of JSON, lines that consist of an
// object of numbers are metrics, too.
func NewScanner(p *Patterns, to Reporter, role string, replica int, withJSON bool) *Scanner {
	s := &Scanner{patterns: p, to: to, key: Key{Role: role, Replica: replica}, next: make([]int, len(p.all)+2)}
	if withJSON {
		s.lines = NewLines(to, role, replica, SourceFile)
	}
	return s
}

// Scan scans lines that arrived at a time, each of which ends with a newline or a carriage
// return; the last one may lack it.
func (s *Scanner) Scan(text []byte, at time.Time, attempt int) {
	clear(s.next)
	for pos := 0; pos < len(text); {
		found := s.nextLine(text, pos)
		if found >= len(text) {
			return
		}
		from, to := lineAround(text, pos, found)
		s.line(text[from:to], from, at, attempt)
		pos = to + 1
	}
}

// nextLine returns a position in the next line that may match.
func (s *Scanner) nextLine(text []byte, pos int) int {
	n := len(s.patterns.all)
	first := len(text)
	for i := range n + 2 {
		m := s.matcher(i)
		if m == nil {
			continue
		}
		if s.next[i] < pos || pos == 0 {
			s.next[i] = m.mayMatch(text, pos)
		}
		first = min(first, s.next[i])
	}
	return first
}

// matcher returns a pattern: i may also be that of steps, or of lines of JSON.
func (s *Scanner) matcher(i int) *matcher {
	switch n := len(s.patterns.all); {
	case i < n:
		return &s.patterns.all[i]
	case i == n:
		return s.patterns.step
	case s.lines != nil:
		return &objects
	}
	return nil
}

// objects matches lines that may be JSON objects.
var objects = matcher{literal: []byte("{")}

// lineAround returns the line around a position, of text from pos on.
func lineAround(text []byte, pos, at int) (from, to int) {
	from = pos + 1 + lastByte(text[pos:at], '\n')
	from += 1 + lastByte(text[from:at], '\r')
	to = at + firstByte(text[at:], '\n')
	return from, at + firstByte(text[at:to], '\r')
}

// line scans one line, which begins at an offset in the text.
func (s *Scanner) line(line []byte, offset int, at time.Time, attempt int) {
	end := offset + len(line)
	n := len(s.patterns.all)
	if s.lines != nil && s.next[n+1] < end {
		if t := trimSpace(line); len(t) > 0 && t[0] == '{' && s.lines.pure(line, at, attempt) {
			return
		}
	}
	if s.patterns.step != nil && s.next[n] < end {
		if v, ok := s.value(s.patterns.step, line, s.next[n]-offset); ok {
			if step, ok := wholeStep(v); ok {
				s.Step, s.HasStep = step, true
			}
		}
	}
	p := Point{Time: at, Step: s.Step, HasStep: s.HasStep, Segment: attempt}
	for i := range s.patterns.all {
		if s.next[i] >= end {
			continue
		}
		m := &s.patterns.all[i]
		if v, ok := s.value(m, line, s.next[i]-offset); ok {
			p.Value, s.key.Name = v, m.name
			s.to.Add(s.key, p, SourceLog)
		}
	}
}

// value returns the number that a pattern finds in a line; from is where it may begin.
func (s *Scanner) value(m *matcher, line []byte, from int) (float64, bool) {
	text, ok := m.find(line, max(0, from))
	if !ok {
		return 0, false
	}
	v, ok := parseNumber(text)
	if !ok {
		s.to.Broken(s.key.Role, s.key.Replica, SourceLog, 1, fmt.Sprintf("pattern of %s found %s, which is not a number", m.name, quoted(string(text))))
	}
	return v, ok
}
