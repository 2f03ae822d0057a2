package history

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"torchx/runtime/pattern"
)

// Stat is a value of a metric that apps are found by.
type Stat string

// The values.
const (
	StatLast Stat = "last"
	StatMin  Stat = "min"
	StatMax  Stat = "max"
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

// MetricFilter selects apps by a value of their main series of a name. NaN never matches.
type MetricFilter struct {
	Name  string
	Stat  Stat
	Op    Operator
	Value float64
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

// ParseStat splits "min(loss)" into the value and the name; without parentheses it is the last
// value.
func ParseStat(text string) (Stat, string) {
	for _, stat := range []Stat{StatLast, StatMin, StatMax} {
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
