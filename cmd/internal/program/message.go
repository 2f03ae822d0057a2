package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/ui"
	"torchx/starlark/component"
)

// levelOf parses a level, also by Python's names, which TorchX users have in LOGLEVEL.
func levelOf(name string) (int, bool) {
	switch strings.ToLower(name) {
	case "debug", "notset", "trace":
		return ui.LevelDebug, true
	case "info":
		return ui.LevelInfo, true
	case "warning", "warn":
		return ui.LevelWarning, true
	case "error", "critical", "fatal":
		return ui.LevelError, true
	}
	return ui.LevelInfo, false
}

// setLevel sets the level of messages from the flag, else from $LOGLEVEL.
func (f *Factory) setLevel(name string, given bool) error {
	origin := "--log_level"
	if !given {
		if name = f.Env.Get("LOGLEVEL"); name == "" {
			return nil
		}
		origin = "$LOGLEVEL"
	}
	level, ok := levelOf(name)
	if !ok {
		return Usagef("", "unknown level %s in %s: want debug, info, warning or error",
			ui.QuoteWord(name), origin)
	}
	f.Level = level
	return nil
}

// Report prints the error that ended the program and returns its exit code.
func (f *Factory) Report(ctx context.Context, err error) int {
	var quiet QuietError
	switch {
	case err == nil || errors.As(err, &quiet):
	case IsBrokenPipe(err):
		return ExitOK // the reader closed the pipe, as `| head` does
	case errors.As(context.Cause(ctx), &quiet):
		return int(quiet)
	case Interrupted(ctx, err):
		f.Line("", "interrupted")
	default:
		f.Explain(err)
	}
	return ExitCode(ctx, err)
}

// Explain prints an error in one line and, for errors in a component file, the position in
// the source below it.
func (f *Factory) Explain(err error) {
	text := err.Error()
	var usage *grammar.UsageError
	var args *component.UsageError
	switch {
	case errors.As(err, &usage):
		text = strings.TrimSuffix(text, ".")
		if !usage.HasRemedy {
			text += helpHint(usage.Command)
		}
	case errors.As(err, &args):
		text = fmt.Sprintf("%s: %s%s%s", args.Component, strings.TrimSuffix(args.Text, "."), misplaced(append(f.flagsOf("run"), f.flagsOf("sweep")...), args.Text), helpHint("run "+args.Component))
	default:
		text += f.remedy(err)
	}
	f.SayError(text)
	var detailed interface{ Detail() string }
	if errors.As(err, &detailed) {
		if detail := strings.TrimRight(detailed.Detail(), "\n"); detail != "" {
			fmt.Fprintln(f.Err, ui.Clean(f.Masked(detail), true)) // masked as Line masks
		}
	}
}

// remedy returns what to do about an error of the system, "" if the error says it already.
func (f *Factory) remedy(err error) string {
	switch text := err.Error(); {
	case errors.Is(err, syscall.EMFILE):
		return " (raise the limit: ulimit -n)"
	case errors.Is(err, syscall.EDQUOT), strings.Contains(text, syscall.ENOSPC.Error()): // an agent's error is text
		if !strings.Contains(text, "free some space") && !strings.Contains(text, "make room") { // an engine's disk
			return " (free some space: `torchx prune` removes apps that have ended)"
		}
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES):
		if home, homeErr := f.Env.Home(); homeErr == nil && strings.Contains(text, home+"/") &&
			!strings.Contains(text, "TORCHX_HOME") {
			return " (set TORCHX_HOME to a writable folder)"
		}
	}
	return ""
}

// misplaced returns a hint if a component's unknown option is an option of `run`.
func misplaced(flags []cli.Flag, text string) string {
	option, unknown := strings.CutPrefix(text, `unknown option "`)
	option, _, quoted := strings.Cut(option, `"`)
	if !unknown || !quoted {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(option, "-"), "=")
	for _, f := range flags {
		for _, n := range f.Names() {
			if grammar.Canonical(n) == grammar.Canonical(name) {
				return ": options of torchx go before the component or handle"
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

// flagsOf returns the flags of a command.
func (f *Factory) flagsOf(name string) []cli.Flag {
	for _, c := range f.def.Commands {
		if c.Name == name {
			return c.New(f).Flags
		}
	}
	return nil
}
