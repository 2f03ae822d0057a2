package status

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
)

// replicaTable returns the table of replicas, "" for none. Below a row is why its replicas
// are in their state.
func (p *statusPage) replicaTable(groups []replicaGroup) string {
	if len(groups) == 0 {
		return ""
	}
	tab := ui.Table{Header: []string{"REPLICA", "STATE", "ATTEMPT", "EXIT", "READY", "TIME", "PEAK MEM", "CPU TIME", "GPU", "POD", "NODE"}}
	for _, g := range groups {
		tab.Add(p.replicaRow(g)...)
	}
	tab.DropEmpty()
	return p.tableWithNotes(&tab, []string{"NODE", "REPLICA"}, func(i int) string { return p.replicaNote(groups[i]) },
		"GPU", "POD", "NODE", "CPU TIME", "PEAK MEM", "TIME")
}

// replicaRow returns the cells of a row.
func (p *statusPage) replicaRow(g replicaGroup) []ui.Cell {
	r := g[0]
	name := fmt.Sprintf("%s/%d", r.Role, r.ID)
	if role := common(g, func(r *spec.ReplicaStatus) string { return r.Role }); role == "" {
		name = fmt.Sprintf("%d replicas", len(g))
	} else if len(g) > 1 {
		name = fmt.Sprintf("%d of %s", len(g), role)
	}
	took := func(r *spec.ReplicaStatus) *float64 {
		if r.StartedAt == nil || r.FinishedAt == nil && r.State != spec.Running {
			return nil
		}
		seconds := cmp.Or(r.FinishedAt, &p.now).Sub(*r.StartedAt).Seconds()
		if r.FinishedAt == nil {
			seconds = math.Trunc(seconds)
		}
		return &seconds
	}
	nodeOf := func(r *spec.ReplicaStatus) string { return cmp.Or(r.Node, r.Hostname) }
	node := common(g, nodeOf)
	if node == "" && len(g) > 1 {
		if n := len(g.by(nodeOf)); n > 1 {
			node = ui.Counted(n, "node")
		}
	}
	cells := []ui.Cell{ui.NewCell(name, ""), ui.NewCell(r.State.String(), ui.StateColor(r.State))}
	for _, text := range []string{
		common(g, func(r *spec.ReplicaStatus) string { return strconv.Itoa(r.Attempt) }),
		common(g, exitText),
		common(g, p.readyText),
		greatest(g, took, func(s float64) string { return ui.Took(time.Duration(s * float64(time.Second))) }),
		peakText(g),
		greatest(g, func(r *spec.ReplicaStatus) *float64 { return r.CPUSeconds }, ui.SecondsText),
		common(g, func(r *spec.ReplicaStatus) string { return strings.Join(r.Devices, ",") }),
		common(g, func(r *spec.ReplicaStatus) string { return r.Pod }),
		node,
	} {
		cells = append(cells, ui.NewCell(p.masked(text), ""))
	}
	return cells
}

// common returns the text that all replicas of a group have, "" if they differ.
func common(g replicaGroup, text func(*spec.ReplicaStatus) string) string {
	first := text(g[0])
	if slices.ContainsFunc(g, func(r *spec.ReplicaStatus) bool { return text(r) != first }) {
		return ""
	}
	return first
}

// greatest returns the greatest amount of a group's replicas, marked as such if the group has
// several; "" if none is known.
func greatest[T int64 | float64](
	g replicaGroup, amount func(*spec.ReplicaStatus) *T, text func(T) string,
) string {
	var most *T
	for _, r := range g {
		if n := amount(r); n != nil && (most == nil || *n > *most) {
			most = n
		}
	}
	switch {
	case most == nil:
		return ""
	case len(g) > 1:
		return "≤ " + text(*most)
	}
	return text(*most)
}

// peakText returns the greatest peak of the memory of a group's replicas, and how it was measured.
func peakText(g replicaGroup) string {
	return greatest(g, func(r *spec.ReplicaStatus) *int64 { return r.MaxRSSBytes }, func(n int64) string {
		at := slices.IndexFunc(g, func(r *spec.ReplicaStatus) bool { return r.MaxRSSBytes != nil && *r.MaxRSSBytes == n })
		return ui.PeakText(&n, g[at].MaxRSSSource)
	})
}

// exitText returns the signal that ended a replica, or its exit code; "" while it runs.
func exitText(r *spec.ReplicaStatus) string {
	switch {
	case r.Signal != "":
		return r.Signal
	case r.ExitCode != nil:
		return strconv.Itoa(*r.ExitCode)
	}
	return ""
}

// notReady begins the message of a replica that has not passed its probe.
const notReady = "not ready yet"

// readyText returns whether a running replica with a probe is ready.
func (p *statusPage) readyText(r *spec.ReplicaStatus) string {
	switch {
	case !p.probed[r.Role] || r.State != spec.Running:
		return ""
	case strings.HasPrefix(r.Msg, notReady):
		return "no"
	}
	return "yes"
}

// replicaNote returns the message of the replicas in a row and, for a failed one, the first line
// of its error file. The first failure is explained above the table.
func (p *statusPage) replicaNote(g replicaGroup) string {
	r, first := g[0], p.status.FirstFailure
	if first != nil && p.status.State == spec.Failed && first.Role == r.Role && first.ID == r.ID {
		return ""
	}
	note := common(g, func(r *spec.ReplicaStatus) string { return r.Msg })
	if len(g) == 1 && r.State == spec.Failed && hasError(r.StructuredErrorMsg) {
		line, _, _ := strings.Cut(errorMessage(r.StructuredErrorMsg), "\n")
		note = strings.TrimPrefix(note+"; error: "+line, "; ")
	}
	return p.clean(note)
}
