package setup

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
)

// maxTime bounds the checks of each backend, in case the backend itself does not.
const maxTime = 20 * time.Second

// examination is the result of the checks of the home or of one backend.
type examination struct {
	Name   string // "home" or that of the backend
	Checks []backend.Check
}

// examinationObject is an element of `doctor --json`.
type examinationObject struct {
	Name   string        `json:"name"`
	Checks []checkObject `json:"checks"`
}

type checkObject struct {
	Name    string        `json:"name"`
	Level   backend.Level `json:"level"`
	Message string        `json:"message"`
	Fix     ui.NullString `json:"fix"`
	// Manifest is left out where there is none: most checks have none.
	Manifest string `json:"manifest,omitempty"`
}

func examinationObjects(found []examination) (all []examinationObject) {
	for _, e := range found {
		o := examinationObject{e.Name, []checkObject{}}
		for _, c := range e.Checks {
			o.Checks = append(o.Checks, checkObject{c.Name, c.Level, c.Text, ui.NullString(c.Fix), c.Manifest})
		}
		all = append(all, o)
	}
	return all
}

// doctorOptions are the flags of `doctor`.
type doctorOptions struct {
	backend string // "" is all
	cfg     string
	json    bool
}

// NewDoctor returns the command `doctor`.
func NewDoctor(f *program.Factory) *cli.Command {
	o := doctorOptions{}
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check the installation",
		UsageText: "[-b BACKEND] [-cfg K=V] [--json]\ntorchx doctor\ntorchx doctor -b local --json",
		Description: "Check TORCHX_HOME and every backend: lock a file, start an agent, read the whole history. Each line is ok, a warning " +
			"or a failure, with what to do. The exit code is 1 if there is a failure. Without -b, a backend other than local that " +
			"is not available is a warning.",
		Flags: []cli.Flag{program.BackendFlag(&o.backend, "only the home and `BACKEND`"), program.CfgFlag(&o.cfg), program.JSONFlag(&o.json)},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return doctor(c.Context, f, o)
		},
	}
}

func doctor(ctx context.Context, f *program.Factory, o doctorOptions) error {
	reg, err := f.Registry()
	if err != nil {
		return err
	}
	names := reg.Names()
	if o.backend != "" {
		alias, err := f.Canonical("doctor", o.backend)
		if err != nil {
			return err
		}
		names = []string{alias.Backend}
	}
	if o.cfg != "" && o.backend == "" {
		return program.Usagef("doctor", "-cfg needs -b BACKEND: its options differ from those of others")
	}
	if o.cfg != "" {
		layer, err := f.BackendCfg(names[0], o.cfg)
		if err != nil {
			return err
		}
		f = f.With(func(c *program.Factory) { c.Cfg = layer })
		if reg, err = f.Registry(); err != nil {
			return err
		}
	}
	home, err := f.Env.Home()
	if err != nil {
		return err
	}
	found := make([]examination, 1+len(names))
	found[0] = examination{"home", examineHome(ctx, f, home)}
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { found[i+1] = examination{name, examineBackend(ctx, reg, name, o.backend != "" || i == 0)} })
	}
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.json {
		err = f.PrintMaskedJSON(examinationObjects(found))
	} else {
		err = printExaminations(f, found, home)
	}
	if err == nil && levels(found)[backend.LevelFailure] > 0 {
		err = program.QuietError(program.ExitError)
	}
	return err
}

// examineBackend returns the checks of a backend. If the backend is not needed (neither named nor
// the default), its failures are warnings.
func examineBackend(
	ctx context.Context, reg *backend.Registry, name string, needed bool,
) []backend.Check {
	checks := diagnose(ctx, reg, name)
	for i := range checks {
		if !needed && checks[i].Level == backend.LevelFailure {
			checks[i].Level = backend.LevelWarning
		}
	}
	return checks
}

// diagnose runs the checks of a backend for at most maxTime.
func diagnose(ctx context.Context, reg *backend.Registry, name string) []backend.Check {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	done := make(chan []backend.Check, 1)
	go func() {
		can, err := reg.Capabilities(name)
		switch {
		case err != nil:
			done <- []backend.Check{backend.FailedCheck("opening", "", "%v", err)}
		case can.Doctor == nil:
			done <- nil
		default:
			done <- can.Doctor.Doctor(ctx)
		}
	}()
	select {
	case checks := <-done:
		return checks
	case <-ctx.Done():
		return []backend.Check{backend.FailedCheck("answer", "check whether a service that it needs hangs", "no answer within %v", maxTime)}
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
		return ui.AnsiGreen
	case backend.LevelWarning:
		return ui.AnsiYellow
	}
	return ui.AnsiRed
}

func printExaminations(f *program.Factory, found []examination, home string) error {
	var b strings.Builder
	for i, e := range found {
		title := "backend " + e.Name
		if i == 0 {
			title = "home " + ui.OneLine(home)
		} else {
			b.WriteByte('\n')
		}
		b.WriteString(f.OutStyle.Paint(ui.AnsiBold, title) + "\n")
		if len(e.Checks) == 0 {
			b.WriteString("  no checks\n")
		}
		for _, c := range e.Checks {
			writeCheck(f, &b, c)
		}
	}
	n := levels(found)
	fmt.Fprintf(&b, "\n%d ok, %s, %s\n", n[backend.LevelOK],
		ui.Counted(n[backend.LevelWarning], "warning"), ui.Counted(n[backend.LevelFailure], "failure"))
	return f.Print(b.String())
}

// Columns of the level, the name and the result of a check.
const (
	checkNameColumn = 11
	checkTextColumn = 26
)

// writeCheck writes a check, followed by its fix.
func writeCheck(f *program.Factory, b *strings.Builder, c backend.Check) {
	level, name := string(c.Level), ui.OneLine(c.Name)
	b.WriteString("  " + f.OutStyle.Paint(levelColor(c.Level), level) + spaces(checkNameColumn-2-len(level)) +
		name + spaces(checkTextColumn-checkNameColumn-ui.TextWidth(name)))
	lines := ui.WrapText(ui.OneLine(f.Masked(c.Text)), ui.TerminalWidth(f.Out)-checkTextColumn)
	if c.Fix != "" {
		lines = append(lines, ui.WrapText("fix: "+ui.OneLine(c.Fix), ui.TerminalWidth(f.Out)-checkTextColumn)...)
	}
	b.WriteString(strings.Join(lines, "\n"+spaces(checkTextColumn)) + "\n")
	if c.Manifest != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(c.Manifest)) // without margin, to be copied
	}
}

// spaces returns n spaces, at least one.
func spaces(n int) string { return strings.Repeat(" ", max(n, 1)) }
