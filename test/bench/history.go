package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/state"
)

// history benchmarks commands that read a large history.
func (w *environment) history(s sizes) []bench {
	old := w.in("old")
	filled := false
	line := func(name, goal, args string) bench {
		return bench{
			name: name, goal: goal, floorName: libraries, runs: s.runs,
			prepare: func() (side, side, error) {
				if !filled {
					if err := fill(old.home, s.apps); err != nil {
						return nil, nil, err
					}
					filled = true
				}
				return old.torchx(args + " > /dev/null"), w.command(w.floor()), nil
			},
		}
	}
	among := fmt.Sprintf(" of %d apps", s.apps)
	return []bench{
		line("list"+among, "< 50 ms", "list"),
		line("list --state FAILED", "< 50 ms", "list --state FAILED"),
		line("status"+among, "< 25 ms", "status "+appID(s.apps/2)),
	}
}

func appID(i int) string { return fmt.Sprintf("trainer-%06x", i) }

// fill creates a history with apps of realistic size.
func fill(home string, apps int) error {
	ctx := context.Background()
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	db, err := state.Open(ctx, filepath.Join(home, "state.db"), state.Options{})
	if err != nil {
		return err
	}
	def, err := json.Marshal(&spec.App{Name: "trainer", Roles: []spec.Role{{
		Name: "trainer", Image: "image", Entrypoint: "sh", Args: []string{strings.Repeat("x", 1500)}, NumReplicas: 1,
	}}})
	if err != nil {
		return err
	}
	states, codes := []spec.State{spec.Succeeded, spec.Succeeded, spec.Failed, spec.Cancelled}, []int{0, 0, 1, 130}
	start := time.Now().AddDate(-1, 0, 0)
	for i := range apps {
		at := start.Add(time.Duration(i) * time.Minute)
		a := history.App{
			AppKey: history.AppKey{ID: appID(i), Backend: "local"},
			Name:   "trainer",
			App:    def, Cfg: []byte(`{}`), Source: history.Source{Component: "dist.ddp"},
			Outcome:     history.Outcome{State: states[i%len(states)], ExitCode: &codes[i%len(codes)], StartedAt: &at, FinishedAt: &at},
			SubmittedAt: at,
		}
		if err := db.Insert(ctx, a); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	return db.Close()
}
