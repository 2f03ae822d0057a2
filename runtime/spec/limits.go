package spec

import (
	"fmt"

	"torchx/runtime/humanize"
)

// Limits of an app. A few lines of a component can describe an app that uses all memory of
// the machine, since Starlark shares lists and macros expand for each replica.
const (
	// MaxReplicas bounds the replicas of all roles together. It is the limit of a Kubernetes
	// Job (maxParallelismForIndexedJob in k8s.io/kubernetes/pkg/apis/batch/validation).
	MaxReplicas = 100_000
	// MaxRoles bounds the number of roles.
	MaxRoles = 10_000
	// MaxSize bounds the text of all roles in bytes, plus itemSize for each item. Linux
	// starts no program with more than 6 MiB of arguments and variables (execve(2)), and a
	// cluster stores no object of more than 1.5 MB.
	MaxSize = 8 << 20
	// MaxPlanSize bounds the same for all replicas, with expanded macros. Printing a plan of
	// this size takes ten times as much memory.
	MaxPlanSize = 160 << 20

	// MaxName bounds the name of an app or role in bytes. Names are parts of handles, prefixes
	// of log lines and names of files, for which 255 is the limit of Linux (NAME_MAX).
	MaxName = 255

	// itemSize is added for each argument, variable, mount and part of metadata.
	itemSize = 64
	// maxNumber is the largest count or amount. Clusters use 32-bit fields, and may add one.
	maxNumber = 1_000_000_000
)

// Meter adds up the sizes of an app's roles and rejects the role that exceeds a limit.
type Meter struct{ roles, replicas, size int }

// Add adds a role. The error names the role and the limit.
func (m *Meter) Add(r *Role) error {
	if m.roles++; m.roles > MaxRoles {
		return fmt.Errorf("too many roles: role %s is number %d, and an app may have at most %d",
			short(r.Name), m.roles, MaxRoles)
	}
	if r.NumReplicas > MaxReplicas-m.replicas {
		return fmt.Errorf("too many replicas: role %s has %d, and all roles of an app together may have at most %d",
			short(r.Name), r.NumReplicas, MaxReplicas)
	}
	m.replicas += max(r.NumReplicas, 0)
	all, largest := sum(r.sizes(textLen))
	if m.size += all; m.size > MaxSize {
		return fmt.Errorf("the app is too large: role %s adds %s (%s), and all roles of an app together may have at most %s",
			short(r.Name), roundBytes(all), largest, roundBytes(MaxSize))
	}
	return nil
}

// AddMetadata adds the metadata of the app.
func (m *Meter) AddMetadata(metadata map[string]any) error {
	n := valueSize(metadata, textLen)
	if m.size += n; m.size > MaxSize {
		return fmt.Errorf("the app is too large: its metadata adds %s, and an app may have at most %s", roundBytes(n), roundBytes(MaxSize))
	}
	return nil
}

// CheckLimits returns an error if the app is too large. Validate calls it, too.
func (a *App) CheckLimits() error {
	m := Meter{size: len(a.Name)}
	for i := range a.Roles {
		if err := m.Add(&a.Roles[i]); err != nil {
			return err
		}
	}
	return m.AddMetadata(a.Metadata)
}

// CheckPlanLimits returns an error if a plan with all replicas is too large. m has the longest
// values of the macros; common is the size in bytes of further data of each replica.
func (a *App) CheckPlanLimits(m Macros, common int) error {
	total := 0
	common += valueSize(a.Metadata, m.expandedLen)
	for i := range a.Roles {
		r := &a.Roles[i]
		one, largest := sum(r.sizes(m.expandedLen))
		one += common
		if total += one * r.NumReplicas; total > MaxPlanSize {
			return fmt.Errorf("the plan is too large: each of the %d replicas of role %s takes %s (%s), and all replicas of an app together may take at most %s",
				r.NumReplicas, short(r.Name), roundBytes(one), largest, roundBytes(MaxPlanSize))
		}
	}
	return nil
}

func roundBytes(n int) string { return humanize.RoundBytes(uint64(n)) }
