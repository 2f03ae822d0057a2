package metrics

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"torchx/runtime/humanize"
	"torchx/runtime/pattern"
)

// Scanner finds metrics in the log of one replica.
type Scanner struct {
	patterns *pattern.Set
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
func NewScanner(p *pattern.Set, to Reporter, role string, replica int, withJSON bool) *Scanner {
	s := &Scanner{patterns: p, to: to, key: Key{Role: role, Replica: replica}, next: make([]int, len(p.All)+2)}
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
	n := len(s.patterns.All)
	first := len(text)
	for i := range n + 2 {
		m := s.matcher(i)
		if m == nil {
			continue
		}
		if s.next[i] < pos || pos == 0 {
			s.next[i] = m.MayMatch(text, pos)
		}
		first = min(first, s.next[i])
	}
	return first
}

// matcher returns a pattern: i may also be that of steps, or of lines of JSON.
func (s *Scanner) matcher(i int) *pattern.Matcher {
	switch n := len(s.patterns.All); {
	case i < n:
		return &s.patterns.All[i]
	case i == n:
		return s.patterns.Step
	case s.lines != nil:
		return objects()
	}
	return nil
}

// objects matches lines that may be JSON objects.
var objects = sync.OnceValue(func() *pattern.Matcher { return pattern.Literal("{") })

// lineAround returns the line around a position, of text from pos on.
func lineAround(text []byte, pos, at int) (from, to int) {
	from = pos + 1 + bytes.LastIndexByte(text[pos:at], '\n')
	from += 1 + bytes.LastIndexByte(text[from:at], '\r')
	to = at + firstByte(text[at:], '\n')
	return from, at + firstByte(text[at:to], '\r')
}

// line scans one line, which begins at an offset in the text.
func (s *Scanner) line(line []byte, offset int, at time.Time, attempt int) {
	end := offset + len(line)
	n := len(s.patterns.All)
	if s.lines != nil && s.next[n+1] < end {
		if t := trimSpace(line); len(t) > 0 && t[0] == '{' && s.lines.pure(line, at, attempt) {
			return
		}
	}
	if s.patterns.Step != nil && s.next[n] < end {
		if v, ok := s.value(s.patterns.Step, line, s.next[n]-offset); ok {
			if step, ok := wholeStep(v); ok {
				s.Step, s.HasStep = step, true
			}
		}
	}
	p := Point{Time: at, Step: s.Step, HasStep: s.HasStep, Segment: attempt}
	for i := range s.patterns.All {
		if s.next[i] >= end {
			continue
		}
		m := &s.patterns.All[i]
		if v, ok := s.value(m, line, s.next[i]-offset); ok {
			p.Value, s.key.Name = v, m.Name
			s.to.Add(s.key, p, SourceLog)
		}
	}
}

// value returns the number that a pattern finds in a line; from is where it may begin.
func (s *Scanner) value(m *pattern.Matcher, line []byte, from int) (float64, bool) {
	text, ok := m.Find(line, max(0, from))
	if !ok {
		return 0, false
	}
	v, ok := parseNumber(text)
	if !ok {
		s.to.Broken(s.key.Role, s.key.Replica, SourceLog, 1, fmt.Sprintf("pattern of %s found %s, which is not a number", m.Name, humanize.Quote(string(text))))
	}
	return v, ok
}

// firstByte returns the index of the first c, the length if there is none.
func firstByte(b []byte, c byte) int {
	if i := bytes.IndexByte(b, c); i >= 0 {
		return i
	}
	return len(b)
}
