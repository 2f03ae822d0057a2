package end

import (
	"time"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// pruned is `prune --json`.
type pruned struct {
	DryRun bool        `json:"dry_run"`
	Apps   []prunedApp `json:"apps"`
	Count  int         `json:"count"`
	Bytes  int64       `json:"bytes"` // of all of Apps that are removed, or would be
}

// prunedApp is an app that is removed, or would be.
type prunedApp struct {
	apps.AppObject
	Bytes   *int64        `json:"bytes"`
	Removed bool          `json:"removed"`
	Error   ui.NullString `json:"error"`
}

func printPruned(f *program.Factory, sum pruned, removed int, o pruneOptions) error {
	if o.json {
		return f.PrintJSON(sum) // only errors may have secrets: masking all of a hundred thousand apps takes seconds
	}
	switch {
	case len(sum.Apps) == 0:
		f.Say("nothing to remove")
	case len(sum.Apps) < sum.Count && o.dryRun:
		f.Say("would remove %s; size of the oldest %d: %s (dry run)", ui.Counted(sum.Count, "app"),
			len(sum.Apps), ui.BytesText(sum.Bytes))
	case o.dryRun:
		f.Say("would remove %s, %s (dry run)", ui.Counted(len(sum.Apps), "app"),
			ui.BytesText(sum.Bytes))
	default:
		f.Say("removed %s, freed %s", ui.Counted(removed, "app"), ui.BytesText(sum.Bytes))
	}
	return nil
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

func printPrunable(f *program.Factory, apps []runner.Prunable, now time.Time) error {
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
		tab.Add(ui.NewCell(a.Handle(), ""), ui.NewCell(a.Name, ""), ui.NewCell(a.State.String(), ui.StateColor(a.State)),
			ui.NewCell(ended, ""), ui.NewCell(ui.OptionalBytes(a.Bytes), ""))
	}
	return f.PrintTable(&tab, func(width int) { tab.Fit(width, "APP NAME", "STATE") })
}
