package collect

import (
	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
)

// Records converts summaries for the history. The main series of a name is that of the
// first role that has it, and of its lowest replica.
func Records(app *spec.App, all []metrics.Summary) []history.Metric {
	records := make([]history.Metric, len(all))
	main := map[string]int{}
	rank := map[string]int{}
	for i, name := range app.RoleNames() {
		rank[name] = i
	}
	for i := range all {
		s := &all[i]
		records[i] = history.Metric{
			Role: s.Role, Replica: s.Replica, Name: s.Name, Source: s.Source, Count: s.Count, NonFinite: s.NonFinite,
			First: s.First, Last: s.Last, Min: s.Min, Max: s.Max,
		}
		if s.HasStep {
			records[i].LastStep = &s.LastStep
		}
		m, ok := main[s.Name]
		if !ok || rank[s.Role] < rank[all[m].Role] || s.Role == all[m].Role &&
			s.Replica < all[m].Replica {
			main[s.Name] = i
		}
	}
	for _, i := range main {
		records[i].Main = true
	}
	return records
}
