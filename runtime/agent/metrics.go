package agent

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/metrics"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

const (
	// metricsWait is how long the result of an app waits for its metrics, so that they are
	// complete once a command has seen the end.
	metricsWait = 5 * time.Second
	// metricsTimeout is how long the agent continues to read them afterwards. What is left is
	// read by the next command that shows them.
	metricsTimeout = 10 * time.Minute
)

// LogDirs is a Launcher that knows the folders of logs. Without it there are no metrics.
type LogDirs interface {
	// LogDir returns the folder of an attempt's log; it need not exist.
	LogDir(r spec.Replica, attempt int) string
}

// MetricsConfig returns how to collect the metrics of an app whose logs are in logDir.
func (b Bundle) MetricsConfig(m *Manifest, logDir func(spec.Replica, int) string) collect.Config {
	return collect.Config{
		Dir: b.Dir, App: m.App, Attempts: b.attemptReader(), LogDir: logDir,
		Output: b.OutputDir(m), LinesInLog: m.MetricsInLog,
	}
}

// attemptReader returns a function that reads the journal of starts when it has grown.
func (b Bundle) attemptReader() func() ([]collect.Attempt, error) {
	var seen fs.FileInfo
	var all []collect.Attempt
	return func() ([]collect.Attempt, error) {
		info, err := os.Stat(b.path(startsFile))
		if err != nil || seen != nil && info.Size() == seen.Size() {
			return all, nil //nolint:nilerr // nothing has started yet
		}
		starts, err := readLines[startRecord](b.path(startsFile))
		if err != nil {
			return all, err
		}
		seen, all = info, nil
		for _, s := range starts {
			all = append(all, collect.Attempt{Replica: spec.Replica{Role: s.Role, ID: s.Replica}, Number: s.Attempt, Start: s.Time})
		}
		return all, nil
	}
}

// startMetrics begins to collect metrics. A failure never affects the app.
func (a *agent) startMetrics() {
	dirs, ok := a.launcher.(LogDirs)
	if !ok {
		return
	}
	c := a.bundle.MetricsConfig(a.manifest, dirs.LogDir)
	c.Log = a.log.Printf
	c.Record = func(all []metrics.Summary) { a.reports.recorder.putMetrics(collect.Records(a.manifest.App, all)) }
	collector, err := collect.New(c)
	if err != nil {
		a.logError(err)
		return
	}
	a.metrics = collector
	collector.Start()
}

// stopMetrics lets the collector read what is left, and waits for a while. The returned function
// waits longer.
func (a *agent) stopMetrics() (wait func()) {
	if a.metrics == nil {
		return func() {}
	}
	done := a.metrics.Stop()
	await := func(limit time.Duration) {
		select {
		case <-done:
		case <-time.After(limit):
		}
	}
	await(metricsWait)
	return func() { await(metricsTimeout) }
}

// metricsEnv returns the variable that names the file for the metrics of an attempt, unless the
// role sets it.
func (a *agent) metricsEnv(r *policy.Replica, attempt int) []string {
	dirs, ok := a.launcher.(LogDirs)
	if _, own := r.Role.Env.Get(spec.MetricsVariable); own || !ok {
		return nil
	}
	return []string{spec.MetricsVariable + "=" + filepath.Join(dirs.LogDir(r.Key, attempt), spec.MetricsFile)}
}
