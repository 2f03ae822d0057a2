package history

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"torchx/runtime/pattern"
)

// Stat is a value of a metric that apps are found by, or an argument of their component.
type Stat string

// The values.
const (
	StatLast Stat = "last"
	StatMin  Stat = "min"
	StatMax  Stat = "max"
	StatArg  Stat = "arg"
)

// Operator compares a value of a metric with a number.
type Operator string

// The operators.
const (
	Less           Operator = "<"
	LessOrEqual    Operator = "<="
	Greater        Operator = ">"
	GreaterOrEqual Operator = ">="
	Equal          Operator = "="
	NotEqual       Operator = "<>"
)

// MetricFilter selects apps by a value of their main series of a name. NaN never matches. A name
// that no metric has is that of an argument, whose value is compared as a number, or with Text.
type MetricFilter struct {
	Name  string
	Stat  Stat
	Op    Operator
	Value float64
	Text  string // only with StatArg, Equal and NotEqual; "": Value counts
}

// operators are the texts of operators; longer ones come before those that they begin with.
var operators = []struct {
	text string
	op   Operator
}{
	{"<=", LessOrEqual},
	{">=", GreaterOrEqual},
	{"==", Equal},
	{"!=", NotEqual},
	{"<", Less},
	{">", Greater},
	{"=", Equal},
}

// errNotFilter continues "TEXT is ".
var errNotFilter = errors.New("not METRIC OPERATOR NUMBER, such as 'loss<0.3' or 'max(acc)>=0.9'")

// ParseMetricFilter parses METRIC OPERATOR NUMBER: loss<0.3 (the last value), min(loss)<=0.3,
// acc>0.9, =, ==, !=. The error continues "TEXT is ".
func ParseMetricFilter(text string) (m MetricFilter, err error) {
	at := max(0, strings.IndexAny(text, "<>=!"))
	name, rest := strings.TrimSpace(text[:at]), text[at:]
	for _, op := range operators {
		if number, found := strings.CutPrefix(rest, op.text); found {
			m.Op, rest = op.op, number
			break
		}
	}
	m.Stat, m.Name = ParseStat(name)
	m.Value, err = strconv.ParseFloat(strings.TrimSpace(rest), 64)
	if m.Op == "" || err != nil || math.IsNaN(m.Value) || !pattern.ValidName(m.Name) {
		return m, errNotFilter
	}
	return m, nil
}

// ParseFilter parses what ParseMetricFilter does, and ARGUMENT=TEXT, ARGUMENT!=TEXT and
// arg(ARGUMENT), of which no metric of that name is meant. The error continues "TEXT is ".
func ParseFilter(text string) (m MetricFilter, err error) {
	if m, err = ParseMetricFilter(text); err == nil {
		return m, nil
	}
	for _, op := range operators {
		name, value, found := strings.Cut(text, op.text)
		if value = strings.TrimSpace(value); !found || op.op != Equal && op.op != NotEqual || value == "" || strings.ContainsAny(value[:1], "<>=!") {
			continue
		}
		if _, m.Name = ParseStat(strings.TrimSpace(name)); pattern.ValidName(m.Name) && !strings.ContainsAny(name, "<>=!") {
			return MetricFilter{Name: m.Name, Stat: StatArg, Op: op.op, Text: value}, nil
		}
	}
	return m, err
}

// ParseStat splits "min(loss)" into the value and the name; without parentheses it is the last
// value.
func ParseStat(text string) (Stat, string) {
	for _, stat := range []Stat{StatLast, StatMin, StatMax, StatArg} {
		name, ok := strings.CutPrefix(text, string(stat)+"(")
		if inner, closed := strings.CutSuffix(name, ")"); ok && closed {
			return stat, inner
		}
	}
	return StatLast, text
}

// String returns the condition as it is typed.
func (m MetricFilter) String() string {
	name, op := m.Name, string(m.Op)
	if m.Stat != StatLast {
		name = fmt.Sprintf("%s(%s)", m.Stat, m.Name)
	}
	if m.Op == NotEqual {
		op = "!="
	}
	if m.Text != "" {
		return name + op + m.Text
	}
	return name + op + strconv.FormatFloat(m.Value, 'g', -1, 64)
}

// Holds reports whether a value of the metric meets the condition; NaN never does.
func (m MetricFilter) Holds(value float64) bool {
	switch m.Op {
	case Less:
		return value < m.Value
	case LessOrEqual:
		return value <= m.Value
	case Greater:
		return value > m.Value
	case GreaterOrEqual:
		return value >= m.Value
	case Equal:
		return value == m.Value
	}
	return !math.IsNaN(value) && value != m.Value
}
