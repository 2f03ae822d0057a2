package results

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/metrics"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/pattern"
	"torchx/runtime/runner"
)

// scan finds metrics in logs. It keeps them as apps keep theirs, in a temporary folder: a log may
// have more of them than memory holds.
type scan struct {
	patterns *pattern.Set
	dir      string
	apps     int
}

// scanWith makes the view show what patterns find in the logs, instead of recorded metrics. The
// caller calls remove at the end.
func (v *view) scanWith(texts []string) (remove func() error, err error) {
	byName := map[string]string{}
	for _, text := range texts {
		name, expression, ok := strings.Cut(text, "=")
		if _, again := byName[name]; !ok || again {
			return nil, program.Usagef("metrics",
				"--pattern %q: want NAME=REGEX, each NAME once", text)
		}
		byName[name] = expression
	}
	set, err := pattern.Parse(byName)
	if err != nil {
		return nil, program.Usagef("metrics", "--pattern: %v", err)
	}
	dir, err := os.MkdirTemp("", "torchx-metrics-")
	if err != nil {
		return nil, fmt.Errorf("create a folder for metrics: %w", err)
	}
	v.scan = &scan{patterns: set, dir: dir}
	return func() error { return os.RemoveAll(dir) }, nil
}

// app scans the logs of an app and returns the folder with its metrics.
func (s *scan) app(ctx context.Context, r *runner.Runner, a *app) (dir string, err error) {
	dir = filepath.Join(s.dir, strconv.Itoa(s.apps))
	s.apps++
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	store, err := metrics.Open(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	logs, err := r.Logs(ctx, a.Ref, a.role, a.ids, backend.LogOptions{AllAttempts: true, Tail: -1})
	if err != nil {
		return "", err
	}
	defer runner.CloseLogs(logs)
	for _, log := range logs {
		if err := s.replica(ctx, store, &log); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (s *scan) replica(ctx context.Context, store *metrics.Store, log *runner.LogInput) error {
	scanner := metrics.NewScanner(s.patterns, store, log.Role, log.ID, false)
	if err := collect.Log(ctx, log.Reader, scanner, store); err != nil {
		return fmt.Errorf("scan the log of %s/%d: %w", log.Role, log.ID, err)
	}
	return nil
}
