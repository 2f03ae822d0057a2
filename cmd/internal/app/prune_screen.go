package app

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// pruned is `prune --json`.
type pruned struct {
	DryRun bool        `json:"dry_run"`
	Apps   []prunedApp `json:"apps"`
	Bytes  int64       `json:"bytes"` // of all apps that are removed, or would be
}

// prunedApp is an app that is removed, or would be; what is not known is null.
type prunedApp struct {
	Handle      string     `json:"handle"`
	AppID       string     `json:"app_id"`
	Name        string     `json:"name"`
	Backend     string     `json:"backend"`
	State       spec.State `json:"state"`
	SubmittedAt *time.Time `json:"submitted_at"`
	FinishedAt  *time.Time `json:"finished_at"`
	Bytes       *int64     `json:"bytes"`
	Removed     bool       `json:"removed"`
	Error       *string    `json:"error"`
}

func prunedOf(p *runner.Prunable) prunedApp {
	return prunedApp{
		Handle: p.Handle, AppID: p.AppID, Name: p.Name, Backend: p.Backend, State: p.State,
		SubmittedAt: p.SubmittedAt, FinishedAt: p.FinishedAt, Bytes: p.Bytes,
	}
}

// prune is the command `prune`.
func prune(ctx context.Context, t *program.Factory, o pruneOptions) error {
	f, err := pruneFilter(t, o, time.Now())
	if err != nil {
		return err
	}
	asks := !o.force && !o.dryRun
	if asks && (!tty.IsTerminalInput(t.In) || !ui.IsTerminal(t.Err)) {
		return program.Usagef("prune", "there is no terminal to ask on: give --force to remove, or --dry-run to look")
	}
	r, err := t.Runner(ctx)
	if err != nil {
		return err
	}
	apps, err := r.Prunable(ctx, f)
	if err != nil {
		return err
	}
	if !o.json {
		if err := pruneTable(t, apps, time.Now()); err != nil {
			return err
		}
	}
	if len(apps) > 0 && asks {
		if yes, err := confirm(ctx, t, fmt.Sprintf("remove %s, %s?", appsText(len(apps)), sizeText(apps))); err != nil {
			return err
		} else if !yes {
			t.Say("nothing is removed")
			return program.QuietError(program.ExitError)
		}
	}
	return pruneAll(ctx, t, r, apps, f, o)
}

// pruneAll removes the apps, goes on after one that cannot be removed, and sums up.
func pruneAll(ctx context.Context, t *program.Factory, r *runner.Runner, apps []runner.Prunable, f runner.PruneFilter, o pruneOptions) error {
	sum := pruned{DryRun: o.dryRun, Apps: []prunedApp{}}
	failed, removed := false, 0
	var err error
	for _, p := range apps {
		if err = context.Cause(ctx); err != nil {
			break
		}
		a := prunedOf(&p)
		if !o.dryRun {
			done, err := r.Prune(ctx, p, f.DeleteOptions)
			if a.Removed = done; err != nil {
				failed = true
				text := err.Error()
				a.Error = &text
				t.Explain(err)
			}
		}
		if a.Removed {
			removed++
		}
		if p.Bytes != nil && (a.Removed || o.dryRun) {
			sum.Bytes += *p.Bytes
		}
		sum.Apps = append(sum.Apps, a)
	}
	if err := pruneSummary(t, sum, removed, o); err != nil {
		return err
	}
	if err == nil && failed {
		return program.QuietError(program.ExitError)
	}
	return err
}

func pruneSummary(t *program.Factory, sum pruned, removed int, o pruneOptions) error {
	if o.json {
		return t.PrintJSON(sum)
	}
	switch {
	case len(sum.Apps) == 0:
		t.Say("there is nothing to remove")
	case o.dryRun:
		t.Say("%s, %s: nothing is removed (dry run)", appsText(len(sum.Apps)), ui.BytesText(sum.Bytes))
	default:
		t.Say("removed %s, %s freed", appsText(removed), ui.BytesText(sum.Bytes))
	}
	return nil
}

func appsText(n int) string {
	if n == 1 {
		return "1 app"
	}
	return fmt.Sprintf("%d apps", n)
}

func sizeText(apps []runner.Prunable) string {
	var total int64
	for i := range apps {
		if apps[i].Bytes != nil {
			total += *apps[i].Bytes
		}
	}
	return ui.BytesText(total)
}

func pruneTable(t *program.Factory, apps []runner.Prunable, now time.Time) error {
	if len(apps) == 0 {
		return nil
	}
	tab := ui.Table{Header: []string{"APP HANDLE", "APP NAME", "STATE", "ENDED", "SIZE"}}
	for i := range apps {
		a := &apps[i]
		ended := ""
		if a.FinishedAt != nil {
			ended = ui.Age(now.Sub(*a.FinishedAt)) + " ago"
		}
		tab.Add(ui.NewCell(a.Handle, ""), ui.NewCell(a.Name, ""), ui.NewCell(a.State.String(), stateColor(a.State)),
			ui.NewCell(ended, ""), ui.NewCell(optionalBytes(a.Bytes), ""))
	}
	if width := ui.ScreenWidth(t.Out); width > 0 {
		tab.Fit(width, "APP NAME", "STATE")
	}
	return tab.Write(t.Out, t.OutStyle)
}

// confirm asks a question on the terminal; anything but yes, and the end of the
// input, is no.
func confirm(ctx context.Context, t *program.Factory, question string) (bool, error) {
	fmt.Fprintf(t.Err, "torchx: %s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(t.In).ReadString('\n') // what is missing is no yes
		answered <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.Err)
		return false, context.Cause(ctx)
	case line := <-answered:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(t.Err)
		}
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	}
}
