package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
)

// doctorTime bounds the look at the home and at each backend. A backend bounds
// its checks itself; this is for one that does not.
const doctorTime = 20 * time.Second

// examination is what was found out about the home or about one backend.
type examination struct {
	Name   string          `json:"name"` // "home" or that of the backend
	Checks []backend.Check `json:"checks"`
}

func (t *tool) doctorCommand() *cli.Command {
	var backendName string
	var asJSON bool
	return &cli.Command{
		Name:      "doctor",
		Usage:     "look for what keeps apps from running, with the fix",
		UsageText: "[-b BACKEND] [--json]\ntorchx doctor\ntorchx doctor -b local --json",
		Description: "Examine the home of torchx (TORCHX_HOME) and every backend: really lock a file, start an agent, read the whole history. " +
			"Each line is ok, a warning or a failure; below the last two stands what to do. The exit code is 1 if there is a failure. Without -b, a backend other than local that is not there is a warning.",
		Flags: []cli.Flag{backendFlag(&backendName, "only the home and `BACKEND`"), jsonFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return t.doctor(c.Context, backendName, asJSON)
		},
	}
}

func (t *tool) doctor(ctx context.Context, backendName string, asJSON bool) error {
	reg, err := t.registry()
	if err != nil {
		return err
	}
	names := reg.Names()
	if backendName != "" {
		alias, err := t.canonical("doctor", backendName)
		if err != nil {
			return err
		}
		names = []string{alias.Backend}
	}
	home, err := t.env.home()
	if err != nil {
		return err
	}
	found := make([]examination, 1+len(names))
	found[0] = examination{"home", t.examineHome(ctx, home)}
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { found[i+1] = examination{name, examineBackend(ctx, reg, name, backendName != "" || i == 0)} })
	}
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if asJSON {
		err = t.printMaskedJSON(found)
	} else {
		err = t.printExaminations(found, home)
	}
	if err == nil && levels(found)[backend.LevelFailure] > 0 {
		err = quietError{exitError}
	}
	return err
}

// examineBackend never takes longer than doctorTime. A backend that is not needed,
// since nobody asked for it and it is not the default, may be missing: that is a
// warning.
func examineBackend(ctx context.Context, reg *backend.Registry, name string, needed bool) []backend.Check {
	checks := examined(ctx, reg, name)
	for i := range checks {
		if !needed && checks[i].Level == backend.LevelFailure {
			checks[i].Level = backend.LevelWarning
		}
	}
	return checks
}

func examined(ctx context.Context, reg *backend.Registry, name string) []backend.Check {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	done := make(chan []backend.Check, 1)
	go func() {
		b, err := reg.Get(name)
		if err != nil {
			done <- []backend.Check{backend.FailedCheck("opening", "", "%v", err)}
			return
		}
		done <- backend.Diagnose(ctx, b)
	}()
	select {
	case checks := <-done:
		return checks
	case <-ctx.Done():
		return []backend.Check{backend.FailedCheck("answer", "see whether what it needs hangs", "no answer within %v", doctorTime)}
	}
}

// levels counts the checks of each level.
func levels(found []examination) map[backend.Level]int {
	n := map[backend.Level]int{}
	for _, e := range found {
		for _, c := range e.Checks {
			n[c.Level]++
		}
	}
	return n
}

func levelColor(l backend.Level) string {
	switch l {
	case backend.LevelOK:
		return ansiGreen
	case backend.LevelWarning:
		return ansiYellow
	}
	return ansiRed
}

func (t *tool) printExaminations(found []examination, home string) error {
	var b strings.Builder
	for i, e := range found {
		title := "backend " + e.Name
		if i == 0 {
			title = "home " + oneLine(home)
		} else {
			b.WriteByte('\n')
		}
		b.WriteString(t.outStyle.paint(ansiBold, title) + "\n")
		if len(e.Checks) == 0 {
			b.WriteString("  nothing is known to look at\n")
		}
		for _, c := range e.Checks {
			t.writeCheck(&b, c)
		}
	}
	n := levels(found)
	fmt.Fprintf(&b, "\n%d ok, %s, %s\n", n[backend.LevelOK],
		counted(n[backend.LevelWarning], "warning"), counted(n[backend.LevelFailure], "failure"))
	return t.print(b.String())
}

// Columns of a check: its level, its name, what was found.
const (
	checkNameColumn = 11
	checkTextColumn = 26
)

// writeCheck writes a check, with its fix below it.
func (t *tool) writeCheck(b *strings.Builder, c backend.Check) {
	level, name := string(c.Level), oneLine(c.Name)
	b.WriteString("  " + t.outStyle.paint(levelColor(c.Level), level) + spaces(checkNameColumn-2-len(level)) +
		name + spaces(checkTextColumn-checkNameColumn-utf8.RuneCountInString(name)))
	lines := wrapText(oneLine(t.masked(c.Text)), terminalWidth(t.out)-checkTextColumn)
	if c.Fix != "" {
		lines = append(lines, wrapText("fix: "+oneLine(c.Fix), terminalWidth(t.out)-checkTextColumn)...)
	}
	b.WriteString(strings.Join(lines, "\n"+spaces(checkTextColumn)) + "\n")
}

// spaces are n spaces, at least one.
func spaces(n int) string { return strings.Repeat(" ", max(n, 1)) }
