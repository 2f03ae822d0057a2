package state

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// testHistory creates a file with count apps of realistic size.
func testHistory(b *testing.B, count int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "state.db")
	db, err := Open(b.Context(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	def := []byte(`{"roles":"` + strings.Repeat("x", 1500) + `"}`)
	states := []spec.State{spec.Succeeded, spec.Succeeded, spec.Failed, spec.Cancelled}
	err = db.write(b.Context(), "fill", func(tx *sql.Tx) error {
		for i := range count {
			a := history.App{AppKey: history.AppKey{Backend: "local", ID: fmt.Sprintf("trainer-%x", i*7919)}, Name: "trainer", Source: history.Source{Component: "dist.ddp"}, Outcome: history.Outcome{State: states[i%len(states)]}, SubmittedAt: new(clock.Add(time.Duration(i) * time.Second))}
			finished := a.SubmittedAt.Add(time.Duration(i*7919%100_000) * time.Millisecond)
			a.StartedAt, a.FinishedAt = a.SubmittedAt, &finished
			if i%1000 == 7 {
				a.Component, a.Name, a.ParentRunID = fmt.Sprintf("exp%d.star:train", i%50_000), "rare", "exp-1"
			}
			seq, err := insertApp(b.Context(), tx, &a)
			if err != nil {
				return err
			}
			tags := map[string]string{"team": "vision"}
			if i < count/3 {
				tags["old"] = ""
			}
			if err := putTags(b.Context(), tx, seq, tags); err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO app_details (app, args, def, request) VALUES (?, '[]', ?, ?)`, seq, string(def), string(def)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkOpen(b *testing.B) {
	path := testHistory(b, 1000)
	for b.Loop() {
		db, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func BenchmarkOpenWhileInUse(b *testing.B) {
	path := testHistory(b, 1000)
	other, err := Open(b.Context(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer other.Close()
	for b.Loop() {
		db, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		db, err := Open(b.Context(), filepath.Join(dir, fmt.Sprint(i), "state.db"), Options{})
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

// BenchmarkOpenInsertClose measures the cost for each `torchx run`.
func BenchmarkOpenInsertClose(b *testing.B) {
	path := testHistory(b, 1000)
	for i := 0; b.Loop(); i++ {
		db, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Insert(b.Context(), history.App{AppKey: history.AppKey{ID: fmt.Sprint(i)}, SubmittedAt: new(clock)}); err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func BenchmarkInsert(b *testing.B) {
	db, err := Open(b.Context(), testHistory(b, 1000), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	a := fullApp("")
	for i := 0; b.Loop(); i++ {
		a.ID = fmt.Sprint(i)
		if err := db.Insert(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSetStatus1000Replicas(b *testing.B) {
	db, err := Open(b.Context(), filepath.Join(b.TempDir(), "state.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.Insert(b.Context(), history.App{AppKey: history.AppKey{ID: "a"}, SubmittedAt: new(clock)}); err != nil {
		b.Fatal(err)
	}
	s := &spec.Status{State: spec.Running, Roles: []spec.RoleStatus{{Role: "r"}}}
	for i := range 1000 {
		s.Roles[0].Replicas = append(s.Roles[0].Replicas, spec.ReplicaStatus{ID: i, State: spec.Running, StartedAt: &clock})
	}
	for i := 0; b.Loop(); i++ {
		s.Roles[0].Replicas[0].Attempt = i
		if err := db.SetStatus(b.Context(), "", "a", s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFind lists the last 50 apps of a long history that match, as commands do.
func BenchmarkFind(b *testing.B) {
	apps := 100_000
	if text := os.Getenv("TORCHX_BENCH_APPS"); text != "" {
		apps, _ = strconv.Atoi(text)
	}
	path, vision := testHistory(b, apps), "vision"
	for name, f := range map[string]history.Filter{
		"all":              {},
		"component":        {Component: "dist.ddp"},
		"rare component":   {Component: "exp7.star:train"},
		"components":       {Component: "exp*"},
		"name":             {Name: "rare"},
		"parent":           {Parents: []string{"exp-1"}},
		"tag":              {Tags: []history.TagFilter{{Key: "team", Value: &vision}}},
		"old tag":          {Tags: []history.TagFilter{{Key: "old"}}},
		"search":           {Search: "trainer"},
		"rare search":      {Search: "exp7"},
		"search and state": {Search: "trainer", States: []spec.State{spec.Failed}},
		"time":             {Until: clock.Add(time.Hour)},
	} {
		for sort := history.SortSubmitted; sort <= history.SortState; sort++ {
			f.Sort, f.Limit = sort, 50
			b.Run(fmt.Sprintf("%s by %d", name, sort), func(b *testing.B) {
				for b.Loop() {
					db, err := Open(b.Context(), path, Options{})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := db.List(b.Context(), f); err != nil {
						b.Fatal(err)
					}
					db.Close()
				}
			})
		}
	}
}

// Benchmark100k opens a history of 100,000 apps and reads from it, as commands do.
func Benchmark100k(b *testing.B) {
	path := testHistory(b, 100_000)
	for name, read := range map[string]func(*DB) (int, error){
		"list 50":         listOf(b, history.Filter{Limit: 50}),
		"list 50 details": listOf(b, history.Filter{Limit: 50, Details: true}),
		"list state":      listOf(b, history.Filter{Limit: 50, States: []spec.State{spec.Failed}}),
		"list live":       listOf(b, history.Filter{States: history.LiveStates()}),
		"list two states": listOf(b, history.Filter{Limit: 50, States: []spec.State{spec.Failed, spec.Cancelled}}),
		"list since":      listOf(b, history.Filter{Limit: 50, Since: clock.Add(99_900 * time.Second)}),
		"list backend":    listOf(b, history.Filter{Limit: 50, Backend: "local", Since: clock}),
		"list all":        listOf(b, history.Filter{}),
		"get": func(db *DB) (int, error) {
			_, err := db.Get(b.Context(), "local", fmt.Sprintf("trainer-%x", 777*7919))
			return 1, err
		},
		"prefix": func(db *DB) (int, error) {
			apps, err := db.FindPrefix(b.Context(), "trainer-5de")
			return len(apps), err
		},
		"last": func(db *DB) (int, error) { _, err := db.Last(b.Context()); return 1, err },
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				db, err := Open(b.Context(), path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if n, err = read(db); err != nil {
					b.Fatal(err)
				}
				db.Close()
			}
			b.ReportMetric(float64(n), "apps")
		})
	}
}

func listOf(b *testing.B, f history.Filter) func(*DB) (int, error) {
	return func(db *DB) (int, error) {
		apps, err := db.List(b.Context(), f)
		return len(apps), err
	}
}
