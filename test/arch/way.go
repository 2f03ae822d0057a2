package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// runs is how often each program is started for a median.
const runs = 40

// way is what a run of utils.echo takes: the functions that are called, in this process and in the
// app's supervisor, and the medians of interleaved starts.
type way struct {
	functions, packages  int
	hello, version, echo time.Duration
}

const helloSource = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"

// measure builds the program twice, for coverage and as it is, and runs it in a home of its own.
func measure(ctx context.Context, root string) (w way, err error) {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		return w, err
	}
	defer os.RemoveAll(dir)
	hello, covered, plain := filepath.Join(dir, "hello"), filepath.Join(dir, "covered"), filepath.Join(dir, "plain")
	if err := os.WriteFile(hello+".go", []byte(helloSource), 0o600); err != nil {
		return w, err
	}
	for _, args := range [][]string{
		{"-o", hello, hello + ".go"},
		{"-cover", "-coverpkg=torchx/...", "-o", covered, "./cmd/torchx"},
		{"-trimpath", "-ldflags=-s -w", "-o", plain, "./cmd/torchx"},
	} {
		if _, err := output(ctx, root, nil, "go", append([]string{"build"}, args...)...); err != nil {
			return w, err
		}
	}
	// Copies start as an installed program does: the kernel maps the pages that the linker has
	// written one by one, which adds 1.5 ms to a start of torchx.
	for _, program := range []*string{&hello, &plain} {
		copied := *program + "-copy"
		if _, err := output(ctx, dir, nil, "cp", *program, copied); err != nil {
			return w, err
		}
		*program = copied
	}
	env := []string{"TORCHX_HOME=" + filepath.Join(dir, "home"), "GOCOVERDIR=" + dir}
	if _, err := output(ctx, dir, env, covered, "run", "utils.echo"); err != nil {
		return w, err
	}
	if err := awaitCounters(ctx, dir, 2); err != nil { // its supervisor has written, too
		return w, err
	}
	if w.functions, w.packages, err = called(ctx, dir); err != nil {
		return w, err
	}
	return w, w.start(ctx, dir, env, hello, plain)
}

// awaitCounters waits until n processes have written which functions they called.
func awaitCounters(ctx context.Context, dir string, n int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		files, err := filepath.Glob(filepath.Join(dir, "covcounters.*"))
		if err != nil || len(files) >= n {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d processes have written their counters: %w", len(files), n, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// start measures starts of the programs, one after the other.
func (w *way) start(ctx context.Context, dir string, env []string, hello, torchx string) error {
	commands := [][]string{{hello}, {torchx, "version"}, {torchx, "run", "utils.echo"}}
	times := make([][]time.Duration, len(commands))
	for range runs {
		for i, c := range commands {
			began := time.Now()
			if _, err := output(ctx, dir, env, c[0], c[1:]...); err != nil {
				return err
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	for i, to := range []*time.Duration{&w.hello, &w.version, &w.echo} {
		slices.Sort(times[i])
		*to = times[i][runs/2]
	}
	return nil
}

// called counts the functions of this module that covered runs called, and their packages.
func called(ctx context.Context, dir string) (functions, packages int, err error) {
	text, err := output(ctx, dir, nil, "go", "tool", "covdata", "func", "-i="+dir)
	if err != nil {
		return 0, 0, err
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line) // FILE:LINE: NAME PERCENT
		if len(fields) != 3 || !strings.HasPrefix(line, module) || fields[2] == "0.0%" {
			continue
		}
		functions++
		seen[filepath.Dir(fields[0])] = true
	}
	return functions, len(seen), nil
}

func output(
	ctx context.Context, dir string, env []string, program string, args ...string,
) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	var problems strings.Builder
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "),
			err, problems.String())
	}
	return string(out), nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
