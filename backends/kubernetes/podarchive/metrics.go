package podarchive

import (
	"torchx/runtime/logstore"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/spec"
)

// MetricsConfig returns how to collect the metrics of an app from its archived logs.
func MetricsConfig(dir string, app *spec.App) collect.Config {
	return collect.Config{
		Dir: dir, App: app, LinesInLog: true,
		Attempts: func() ([]collect.Attempt, error) { return attempts(dir), nil },
		LogDir:   func(r spec.Replica, attempt int) string { return logstore.AttemptDir(dir, r, attempt) },
	}
}

// attempts returns the archived attempts.
func attempts(dir string) (all []collect.Attempt) {
	logs := Retained(dir)
	if logs == nil {
		return nil
	}
	for _, role := range logs.Roles {
		for id, count := range role.Attempts {
			for number := range count {
				all = append(all, collect.Attempt{Replica: spec.Replica{Role: role.Role, ID: id}, Number: number})
			}
		}
	}
	return all
}
