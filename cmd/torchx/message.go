package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"torchx/starlark/component"
)

// levelOf knows Python's names too, which LOGLEVEL holds for TorchX users.
func levelOf(name string) (int, bool) {
	switch strings.ToLower(name) {
	case "debug", "notset", "trace":
		return levelDebug, true
	case "info":
		return levelInfo, true
	case "warning", "warn":
		return levelWarning, true
	case "error", "critical", "fatal":
		return levelError, true
	}
	return levelInfo, false
}

// setLevel takes the level from the flag, else from $LOGLEVEL.
func (t *tool) setLevel(name string, given bool) error {
	origin := "--log_level"
	if !given {
		if name = t.env.get("LOGLEVEL"); name == "" {
			return nil
		}
		origin = "$LOGLEVEL"
	}
	level, ok := levelOf(name)
	if !ok {
		return usagef("", "unknown level %s in %s: it is one of debug, info, warning, error", quoteWord(name), origin)
	}
	t.level = level
	return nil
}

// report prints the error that ended the program and returns its exit code.
func (t *tool) report(ctx context.Context, err error) int {
	var quiet quietError
	switch {
	case err == nil || errors.As(err, &quiet):
	case isBrokenPipe(err):
		return exitOK // the reader has seen enough, as with `| head`
	case errors.As(context.Cause(ctx), &quiet):
		return quiet.code
	case interrupted(ctx, err):
		t.line("", "interrupted")
	default:
		t.explain(err)
	}
	return exitCode(ctx, err)
}

// explain prints an error: one line that says it all and, for errors of a
// component file, the place in the source below it.
func (t *tool) explain(err error) {
	text := err.Error()
	var usage *usageError
	var args *component.UsageError
	switch {
	case errors.As(err, &usage):
		text = strings.TrimSuffix(text, ".") + helpHint(usage.command)
	case errors.As(err, &args):
		text = fmt.Sprintf("%s: %s%s%s", args.Component, strings.TrimSuffix(args.Text, "."), misplaced(t.flagsOf("run"), args.Text), helpHint("run "+args.Component))
	default:
		text += t.remedy(err)
	}
	t.sayError(text)
	var detailed interface{ Detail() string }
	if errors.As(err, &detailed) {
		if detail := strings.TrimRight(detailed.Detail(), "\n"); detail != "" {
			fmt.Fprintln(t.err, clean(t.masked(detail), true)) // as for line
		}
	}
}

// remedy says what to do about what the system refused, unless the error does.
func (t *tool) remedy(err error) string {
	switch text := err.Error(); {
	case errors.Is(err, syscall.EMFILE):
		return " (raise the limit: ulimit -n)"
	case errors.Is(err, syscall.EDQUOT), strings.Contains(text, syscall.ENOSPC.Error()): // an agent's error is a text
		if !strings.Contains(text, "free some space") && !strings.Contains(text, "make room") { // an engine's disk
			return " (free some space: `torchx prune` removes apps that have ended)"
		}
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES):
		if home, homeErr := t.env.home(); homeErr == nil && strings.Contains(text, home+"/") && !strings.Contains(text, "TORCHX_HOME") {
			return " (set TORCHX_HOME to a folder that can be written)"
		}
	}
	return ""
}

// misplaced tells of an option that a component does not know, but `run` does.
func misplaced(flags []cli.Flag, text string) string {
	option, unknown := strings.CutPrefix(text, `unknown option "`)
	option, _, quoted := strings.Cut(option, `"`)
	if !unknown || !quoted {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(option, "-"), "=")
	for _, f := range flags {
		for _, n := range f.Names() {
			if dashed(n) == dashed(name) {
				return ": torchx's own options stand before the component or handle"
			}
		}
	}
	return ""
}

func helpHint(command string) string {
	if command == "" {
		return " (see torchx --help)"
	}
	return " (see torchx " + command + " --help)"
}

// flagsOf are the flags of a command; there are none before the command line is read.
func (t *tool) flagsOf(command string) []cli.Flag {
	if t.app == nil {
		return nil
	}
	if c := findCommand(t.app.Commands, command); c != nil {
		return c.Flags
	}
	return nil
}
