package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/state"
)

// history benchmarks commands that read a large history.
func (w *environment) history(s sizes, p *pageBench) []bench {
	old, filled := w.in("old"), false
	fillOnce := func() error {
		if filled {
			return nil
		}
		filled = true
		return fill(old.home, s.apps)
	}
	compared := func(name, goal, args, floorName string, floor side) bench {
		return bench{
			name: name, goal: goal, floorName: floorName, runs: s.runs,
			prepare: func() (side, side, error) {
				return old.torchx(args + " > /dev/null"), floor, fillOnce()
			},
		}
	}
	line := func(name, goal, args string) bench {
		return compared(name, goal, args, libraries, w.command(w.floor()))
	}
	find := func(name, args string) bench {
		return compared(name, "< 3x", "list "+args, "torchx version",
			old.torchx("version > /dev/null"))
	}
	among := fmt.Sprintf(" of %d apps", s.apps)
	return append([]bench{
		line("list"+among, "< 50 ms", "list"),
		line("list --state FAILED", "< 50 ms", "list --state FAILED"),
		line("status"+among, "< 25 ms", "status "+appID(s.apps/2)),
		line("compare 100 runs", "< 10x", "compare --state FAILED --limit 100"),
		find("list --tag", "--tag team=vision"),
		find("list --search", "--search 'lr 7'"),
		find("list --name PATTERN", "--name '*7'"),
		find("list --component --state", "--component dist.ddp --state failed"),
		find("list --until", "--until "+start(s.apps).Add(time.Hour).Format(time.RFC3339)),
		find("list --sort duration", "--sort duration"),
		find("list --search, by duration", "--search lr --sort duration"),
	}, p.benches(w, s, old, fillOnce)...)
}

func appID(i int) string { return fmt.Sprintf("trainer-%06x", i) }

// start returns when the first app was submitted.
func start(apps int) time.Time { return time.Now().Add(-time.Duration(apps) * time.Minute) }

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
	began := start(apps)
	for i := range apps {
		at := began.Add(time.Duration(i) * time.Minute)
		ended := at.Add(time.Duration(i%7919) * time.Second)
		a := history.App{
			AppKey: history.AppKey{ID: appID(i), Backend: "local"},
			Name:   fmt.Sprintf("trainer-%d", i%100),
			Spec:   def, Cfg: []byte(`{}`), Source: history.Source{Component: "dist.ddp", Args: []string{"--lr", strconv.Itoa(i % 5000)}},
			Labels:      history.Labels{Tags: map[string]string{"team": []string{"vision", "speech"}[i%2]}},
			Outcome:     history.Outcome{State: states[i%len(states)], ExitCode: &codes[i%len(codes)], StartedAt: &at, FinishedAt: &ended},
			SubmittedAt: &at,
		}
		if err := db.Insert(ctx, a); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	return db.Close()
}
