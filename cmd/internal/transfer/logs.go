package transfer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/runner"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
)

// openLogs is how many logs are open at the same time.
const openLogs = 16

// copyLogs writes the logs of all attempts of an app into a folder, secrets hidden. Those that are
// gone are left out with a warning.
func (e *exporter) copyLogs(
	ctx context.Context, ref runner.Ref, seen runner.Seen, hide *censor, dir string,
) error {
	targets, err := e.runner.Replicas(ctx, ref, seen.Status, "", nil)
	if err != nil || len(targets) == 0 || e.runner.IsSweep(ref) {
		return err
	}
	all := func(*spec.Status, spec.Replica) backend.LogOptions {
		return backend.LogOptions{AllAttempts: true, Tail: -1}
	}
	for some := range slices.Chunk(targets, openLogs) {
		inputs, err := e.runner.LogsAt(ctx, ref, seen, some, false, all)
		if errors.Is(err, backend.ErrNotFound) {
			e.Warn("without logs: %v", err)
			continue
		}
		if err != nil {
			return err
		}
		for _, in := range inputs {
			c := logCopy{hide: hide, dir: dir, replica: spec.Replica{Role: in.Role, ID: in.ID}, attempt: -1, until: -1}
			if s := seen.Replica(c.replica); s != nil && s.StartedAt != nil {
				c.until = s.Attempt
			}
			if err = c.copy(ctx, in.Reader); err != nil {
				break
			}
		}
		runner.CloseLogs(inputs)
		if err != nil {
			return err
		}
	}
	return nil
}

// logCopy copies the log of a replica.
type logCopy struct {
	hide    *censor
	dir     string
	replica spec.Replica
	attempt int // that out is of
	until   int // the last attempt that started
	out     *logstore.Writer
	last    time.Time
}

func (c *logCopy) copy(ctx context.Context, in backend.LogReader) (err error) {
	defer func() { err = errors.Join(err, c.close()) }()
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) && c.attempt < c.until {
			return c.open(c.until) // it printed nothing
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.add(&b)
		}
		if err != nil {
			return err
		}
	}
}

func (c *logCopy) add(b *backend.Block) error {
	if b.Attempt != c.attempt {
		if err := c.open(b.Attempt); err != nil {
			return err
		}
	}
	if c.last = b.Time; c.last.IsZero() {
		c.last = c.out.Last()
	}
	if b.Notice != "" {
		return c.out.Gap(b.Notice, c.last)
	}
	stream := logstore.Stdout
	if b.Stream == backend.Stderr {
		stream = logstore.Stderr
	}
	return c.out.Append(stream, c.hide.text(b.Data), c.last)
}

func (c *logCopy) open(attempt int) (err error) {
	if err := c.close(); err != nil {
		return err
	}
	dir := logstore.AttemptDir(c.dir, c.replica, attempt)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	c.attempt = attempt
	c.out, err = logstore.Create(dir)
	return err
}

func (c *logCopy) close() error {
	if c.out == nil {
		return nil
	}
	out := c.out
	c.out = nil
	return out.Close(false)
}

// censor hides secrets in text: what looks like one, and the values of the app's variables.
type censor struct {
	rules  *secrets.Rules
	values [][]byte // longest first; empty: nothing is hidden
	off    bool
}

// minSecret is the length of the shortest value that is hidden in text: shorter ones are in any text.
const minSecret = 6

func (e *exporter) newCensor(app *spec.App, variables []string) (*censor, error) {
	rules, err := e.Rules()
	if err != nil {
		return nil, err
	}
	c := &censor{rules: rules, off: e.ShowSecrets}
	for i := range app.Roles {
		for _, p := range app.Roles[i].Env {
			secret := rules.Name(p.Key) || slices.Contains(variables, p.Key)
			if secret && len(p.Value) >= minSecret {
				c.values = append(c.values, []byte(p.Value))
			}
		}
	}
	slices.SortFunc(c.values, func(a, b []byte) int { return len(b) - len(a) })
	return c, nil
}

func (c *censor) text(data []byte) []byte {
	if c.off || len(data) == 0 {
		return data
	}
	for _, v := range c.values {
		data = bytes.ReplaceAll(data, v, []byte(secrets.Hidden))
	}
	return []byte(c.rules.Text(string(data)))
}
