package client

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/backend"
)

// Path returns the path of a command. Errors: ErrUnavailable.
func (c *Client) Path(name string) (string, error) {
	path, _, err := c.find(name)
	return path, err
}

// Ping asks whether the controller answers. Errors: ErrUnavailable.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.Controller(ctx)
	return err
}

// Controller returns what Slurm says of its controllers if one answers. Errors: ErrUnavailable.
func (c *Client) Controller(ctx context.Context) (string, error) {
	out, err := c.Run(ctx, nil, "scontrol", "ping")
	var lines []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "Slurmctld") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	text := strings.Join(lines, ", ")
	switch {
	case strings.Contains(text, "UP"):
		return text, nil
	case text != "":
		return "", backend.Errorf(backend.ErrUnavailable,
			"Slurm's controller does not answer: %s (ask the administrator)", text)
	}
	return "", err
}

// Version returns the version of Slurm's commands, such as 22.05.8.
func (c *Client) Version(ctx context.Context) (string, error) {
	out, err := c.Run(ctx, nil, "sinfo", "--version")
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(out)) // slurm 23.11.1, slurm-wlm 22.05.8
	if len(words) == 0 {
		return "", nil
	}
	return words[len(words)-1], nil
}

// Partition is a partition with its numbers of nodes.
type Partition struct {
	Name          string
	Default, Up   bool
	Nodes, Usable int
	MemMB         int // the least memory of a node
}

// usable lists the states of nodes that run jobs now or soon, in sinfo's short form.
var usable = []string{"idle", "mix", "alloc", "comp", "plnd", "resv", "allocated", "mixed", "completing", "planned", "reserved"}

// Partitions returns all partitions, also hidden ones.
func (c *Client) Partitions(ctx context.Context) ([]Partition, error) {
	out, err := c.Run(ctx, nil, "sinfo", "--noheader", "--all", "--noconvert",
		"--format=%P|%a|%D|%t|%m")
	if err != nil {
		return nil, err
	}
	var all []Partition
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		name, isDefault := strings.CutSuffix(f[0], "*")
		at := slices.IndexFunc(all, func(p Partition) bool { return p.Name == name })
		if at < 0 {
			at, all = len(all), append(all, Partition{Name: name, Default: isDefault, Up: f[1] == "up"})
		}
		p := &all[at]
		n, _ := strconv.Atoi(f[2]) // 0 if it is none
		p.Nodes += n
		if slices.Contains(usable, strings.TrimRight(f[3], "*~#!%$@^-+")) &&
			!strings.HasSuffix(f[3], "*") {
			p.Usable += n
		}
		if mem, err := strconv.Atoi(strings.TrimRight(f[4], "+")); err == nil &&
			(p.MemMB == 0 || mem < p.MemMB) {
			p.MemMB = mem
		}
	}
	return all, nil
}

// PartitionOf returns the partition with a name, or the default one for ""; nil if there is none.
func PartitionOf(all []Partition, name string) *Partition {
	for i := range all {
		if all[i].Name == name || name == "" && all[i].Default {
			return &all[i]
		}
	}
	return nil
}

// NodeReasons returns the nodes that are down or drained: n4 (maintenance work).
func (c *Client) NodeReasons(ctx context.Context) ([]string, error) {
	out, err := c.Run(ctx, nil, "sinfo", "--noheader", "--list-reasons", "--format=%N|%E")
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(out)) {
		nodes, why, ok := strings.Cut(strings.TrimSpace(line), "|")
		if ok && nodes != "" {
			all = append(all, nodes+" ("+why+")")
		}
	}
	return all, nil
}

// Accounts returns the accounts of a user. Errors: ErrNoAccounting.
func (c *Client) Accounts(ctx context.Context, userName string) ([]string, error) {
	out, err := c.Run(ctx, nil, "sacctmgr", "--noheader", "--parsable2", "--readonly", "show",
		"associations", "user="+userName, "format=account")
	if err != nil {
		return nil, err
	}
	accounts := strings.Fields(string(out))
	slices.Sort(accounts)
	return slices.Compact(accounts), nil
}

// Cancel runs scancel for a job. A job that has ended is not an error.
func (c *Client) Cancel(ctx context.Context, job int64, options ...string) error {
	args := append(options, strconv.FormatInt(job, 10))
	_, err := c.Run(ctx, nil, "scancel", args...)
	if e, ok := errors.AsType[*Error](err); ok && e.Slurm == noReason {
		// It does so when the job changes meanwhile: again, and it says why if that fails.
		_, err = c.Run(ctx, nil, "scancel", append([]string{"--verbose"}, args...)...)
	}
	if errors.Is(err, ErrEnded) || errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}

// Command returns a command that the caller runs. It ends with ctx. Errors: ErrUnavailable.
func (c *Client) Command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, environ, err := c.find(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environ
	return cmd, nil
}
