package apps

import (
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/pattern"
)

// metricFilters parses the values of --where.
func metricFilters(command string, texts []string) (filters []history.MetricFilter, err error) {
	for _, text := range texts {
		m, err := history.ParseFilter(text)
		if err != nil {
			return nil, program.Usagef(command, "--where %s is %v", ui.QuoteWord(text), err)
		}
		filters = append(filters, m)
	}
	return filters, nil
}

// parseMetricSort parses METRIC, METRIC:asc or METRIC:desc.
func parseMetricSort(command, text string) (*history.MetricSort, error) {
	m := &history.MetricSort{}
	name, down := strings.CutSuffix(text, ":desc")
	if !down {
		name = strings.TrimSuffix(text, ":asc")
	}
	m.Descending = down
	m.Stat, m.Name = history.ParseStat(name)
	if !pattern.ValidName(m.Name) {
		return nil, program.Usagef(command, "--sort %s is neither one of %s nor a metric or an argument",
			ui.QuoteWord(text), strings.Join(ListOrders, ", "))
	}
	return m, nil
}
