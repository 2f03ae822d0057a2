package metrics

import (
	"encoding/json"
	"errors"
	"math"
	"time"
	"unicode/utf8"
)

// Limits of a line of JSON.
const (
	MaxLine  = 1 << 20 // bytes
	maxDepth = 8       // of objects; deeper ones are left out
	maxPairs = 10_000  // numbers
)

// Lines reads lines of JSON objects: each number is a point of the series of its name, and a
// number in an object within has the name "outer.inner". "step" and "time" (unix seconds or RFC
// 3339) belong to all numbers of their line. Other values are ignored. NaN, Infinity and
// -Infinity are numbers, as Python's json writes them.
type Lines struct {
	to      Reporter
	role    string
	replica int
	source  string
	p       lineParser
}

// NewLines returns a reader of the lines of one replica.
func NewLines(to Reporter, role string, replica int, source string) *Lines {
	return &Lines{to: to, role: role, replica: replica, source: source}
}

// Line adds the numbers of a line, or counts it as broken. at is the time of a line without
// one.
func (l *Lines) Line(line []byte, at time.Time, attempt int) {
	if len(trimSpace(line)) == 0 {
		return
	}
	if err := l.p.parse(line); err != nil {
		l.to.Broken(l.role, l.replica, l.source, 1, err.Error())
		return
	}
	l.add(at, attempt)
}

// pure adds the numbers of a line of a log if the line has nothing else, and reports whether.
func (l *Lines) pure(line []byte, at time.Time, attempt int) bool {
	if l.p.parse(line) != nil || l.p.mixed || len(l.p.pairs) == 0 {
		return false
	}
	l.add(at, attempt)
	return true
}

func (l *Lines) add(at time.Time, attempt int) {
	p := Point{Time: at, Segment: attempt}
	if l.p.hasTime {
		p.Time = l.p.time
	}
	if l.p.hasStep {
		p.Step, p.HasStep = wholeStep(l.p.step)
		if !p.HasStep {
			l.to.Broken(l.role, l.replica, l.source, 1, "step is not a whole number")
		}
	}
	if l.p.badTime {
		l.to.Broken(l.role, l.replica, l.source, 1, "time is neither unix seconds nor RFC 3339")
	}
	for _, v := range l.p.pairs {
		p.Value = v.value
		l.to.Add(Key{l.role, l.replica, v.name}, p, l.source)
	}
}

// pair is a number with its name.
type pair struct {
	name  string
	value float64
}

// lineParser parses one line at a time. It exists because encoding/json rejects NaN and
// Infinity, and is several times slower.
type lineParser struct {
	b     []byte
	i     int
	depth int
	names map[string]string // known names, so that they are not allocated again
	pairs []pair
	index map[string]int // by name, once a line has many numbers

	time             time.Time
	hasTime, badTime bool
	step             float64
	hasStep          bool
	mixed            bool // there are other values
}

var (
	errNotObject = errors.New("not a JSON object")
	errSyntax    = errors.New("not valid JSON")
	errTooLong   = errors.New("longer than 1 MiB")
)

const maxKnownNames = 4096

func (p *lineParser) parse(line []byte) error {
	if p.names == nil || len(p.names) > maxKnownNames {
		p.names = map[string]string{}
	}
	p.b, p.i, p.depth, p.pairs, p.index = line, 0, 0, p.pairs[:0], nil
	p.hasTime, p.badTime, p.hasStep, p.mixed = false, false, false, false
	switch {
	case len(line) > MaxLine:
		return errTooLong
	case p.next() != '{':
		return errNotObject
	case !p.object("") || p.next() != 0 || p.i < len(p.b):
		return errSyntax
	}
	return nil
}

// next skips white space and returns the next byte without consuming it, 0 at the end.
func (p *lineParser) next() byte {
	for ; p.i < len(p.b); p.i++ {
		if c := p.b[p.i]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

func (p *lineParser) skip(c byte) bool {
	if p.next() != c || p.i >= len(p.b) {
		return false
	}
	p.i++
	return true
}

// object parses an object whose members have names after prefix.
func (p *lineParser) object(prefix string) bool {
	if p.depth++; p.depth > 200 {
		return false
	}
	defer func() { p.depth-- }()
	p.i++
	if p.skip('}') {
		return true
	}
	for {
		if p.next() != '"' {
			return false
		}
		key, ok := p.text()
		if !ok || !p.skip(':') || !p.member(prefix, key) {
			return false
		}
		if p.skip('}') {
			return true
		}
		if !p.skip(',') {
			return false
		}
	}
}

// member parses the value of a key.
func (p *lineParser) member(prefix string, key []byte) bool {
	switch c := p.next(); c {
	case '{':
		if p.depth >= maxDepth {
			p.mixed = true
			return p.ignore()
		}
		return p.object(p.name(prefix, key) + ".")
	case '"':
		isTime := prefix == "" && string(key) == "time"
		text, ok := p.text()
		if !isTime {
			p.mixed = true
			return ok
		}
		t, err := time.Parse(time.RFC3339, string(text))
		p.setTime(t, err == nil)
		return ok
	case '[', 't', 'f', 'n':
		p.mixed = p.mixed || c != 'n'
		return p.ignore()
	default:
		v, ok := p.number()
		if !ok {
			return false
		}
		switch {
		case prefix == "" && string(key) == "step":
			p.step, p.hasStep = v, true
		case prefix == "" && string(key) == "time":
			p.setTime(unixTime(v))
		default:
			p.put(p.name(prefix, key), v)
		}
		return true
	}
}

func (p *lineParser) setTime(t time.Time, ok bool) {
	ok = ok && t.Year() >= 1970 && t.Year() < 2262 // the range of unix nanoseconds
	p.time, p.hasTime, p.badTime = t, ok, !ok
}

// unixTime converts seconds.
func unixTime(v float64) (time.Time, bool) {
	if !(v >= 0 && v < 9.2e9) { // also NaN
		return time.Time{}, false
	}
	s, fraction := math.Modf(v)
	return time.Unix(int64(s), int64(math.Round(fraction*1e6))*1000), true
}

// put adds a number. The last one of a name counts, as in Python and JavaScript.
func (p *lineParser) put(name string, v float64) {
	const few = 32
	if len(p.pairs) < few {
		for i := range p.pairs {
			if p.pairs[i].name == name {
				p.pairs[i].value = v
				return
			}
		}
	} else {
		if p.index == nil {
			p.index = map[string]int{}
			for i := range p.pairs {
				p.index[p.pairs[i].name] = i
			}
		}
		if i, ok := p.index[name]; ok {
			p.pairs[i].value = v
			return
		}
		p.index[name] = len(p.pairs)
	}
	if len(p.pairs) < maxPairs {
		p.pairs = append(p.pairs, pair{name, v})
	}
}

func (p *lineParser) name(prefix string, key []byte) string {
	if prefix != "" {
		key = append([]byte(prefix), key...)
	}
	if name, ok := p.names[string(key)]; ok {
		return name
	}
	name := string(key)
	p.names[name] = name
	return name
}

// text parses a string. The result is valid until the next line.
func (p *lineParser) text() ([]byte, bool) {
	start := p.i
	p.i++
	escaped := false
	for ; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case c == '"':
			p.i++
			if !escaped {
				text := p.b[start+1 : p.i-1]
				return text, utf8.Valid(text)
			}
			var text string
			err := json.Unmarshal(p.b[start:p.i], &text)
			return []byte(text), err == nil
		case c == '\\':
			escaped = true
			p.i++
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// number parses a number, NaN, Infinity or -Infinity.
func (p *lineParser) number() (float64, bool) {
	start := p.i
	for p.i < len(p.b) {
		if !isNumberByte(p.b[p.i]) {
			break
		}
		p.i++
	}
	text := p.b[start:p.i]
	switch string(text) {
	case "NaN", "Infinity", "-Infinity":
	default:
		digits := trimMinus(text)
		if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
			return 0, false
		}
	}
	return parseNumber(text)
}

func trimMinus(b []byte) []byte {
	if len(b) > 0 && b[0] == '-' {
		return b[1:]
	}
	return b
}

// ignore skips a list, a literal or an object that is too deep.
func (p *lineParser) ignore() bool {
	switch p.next() {
	case '[':
		if p.depth++; p.depth > 200 {
			return false
		}
		defer func() { p.depth-- }()
		p.i++
		if p.skip(']') {
			return true
		}
		for p.ignore() {
			if p.skip(']') {
				return true
			}
			if !p.skip(',') {
				return false
			}
		}
		return false
	case '{':
		pairs, names := len(p.pairs), p.names
		p.names = map[string]string{}
		depth := p.depth
		ok := p.skipObject()
		p.pairs, p.names, p.depth = p.pairs[:pairs], names, depth
		return ok
	case '"':
		_, ok := p.text()
		return ok
	case 't', 'f', 'n':
		for _, word := range []string{"true", "false", "null"} {
			if len(p.b)-p.i >= len(word) && string(p.b[p.i:p.i+len(word)]) == word {
				p.i += len(word)
				return true
			}
		}
		return false
	}
	_, ok := p.number()
	return ok
}

// skipObject skips an object.
func (p *lineParser) skipObject() bool {
	if p.depth++; p.depth > 200 {
		return false
	}
	p.i++
	if p.skip('}') {
		return true
	}
	for {
		if p.next() != '"' {
			return false
		}
		if _, ok := p.text(); !ok || !p.skip(':') || !p.ignore() {
			return false
		}
		if p.skip('}') {
			return true
		}
		if !p.skip(',') {
			return false
		}
	}
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// isNumberByte reports whether a number, NaN or Infinity can have the byte.
func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' ||
		c == '-' || c == '.'
}
