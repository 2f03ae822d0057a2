package app

import (
	"math"
	"strconv"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/pattern"
)

// metricFilters parses the values of --where.
func metricFilters(command string, texts []string) (filters []history.MetricFilter, err error) {
	for _, text := range texts {
		m, ok := parseMetricFilter(text)
		if !ok {
			return nil, program.Usagef(command, "--where %s is not METRIC OPERATOR NUMBER, such as 'loss<0.3' or 'max(acc)>=0.9'", ui.QuoteWord(text))
		}
		filters = append(filters, m)
	}
	return filters, nil
}

func parseMetricFilter(text string) (m history.MetricFilter, ok bool) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return m, false
	}
	name, rest := strings.TrimSpace(text[:at]), text[at:]
	for _, op := range []struct {
		text string
		op   history.Operator
	}{
		{"<=", history.LessOrEqual},
		{">=", history.GreaterOrEqual},
		{"==", history.Equal},
		{"!=", history.NotEqual},
		{"<", history.Less},
		{">", history.Greater},
		{"=", history.Equal},
	} {
		if number, found := strings.CutPrefix(rest, op.text); found {
			m.Op, rest = op.op, number
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
	m.Value = v
	m.Stat, m.Name = metricValue(name)
	return m, m.Op != "" && err == nil && !math.IsNaN(v) && pattern.ValidName(m.Name)
}

// metricValue splits "min(loss)" into the value and the name; without parentheses it is the last
// value.
func metricValue(text string) (history.Stat, string) {
	for _, stat := range []history.Stat{history.StatLast, history.StatMin, history.StatMax} {
		name, ok := strings.CutPrefix(text, string(stat)+"(")
		if inner, closed := strings.CutSuffix(name, ")"); ok && closed {
			return stat, inner
		}
	}
	return history.StatLast, text
}

// parseMetricSort parses METRIC, METRIC:asc or METRIC:desc.
func parseMetricSort(command, text string) (*history.MetricSort, error) {
	m := &history.MetricSort{}
	name, down := strings.CutSuffix(text, ":desc")
	if !down {
		name = strings.TrimSuffix(text, ":asc")
	}
	m.Descending = down
	m.Stat, m.Name = metricValue(name)
	if !pattern.ValidName(m.Name) {
		return nil, program.Usagef(command, "--sort %s is neither one of %s nor a metric", ui.QuoteWord(text), strings.Join(ListOrders, ", "))
	}
	return m, nil
}
