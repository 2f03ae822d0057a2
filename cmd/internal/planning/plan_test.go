package planning

import (
	"context"
	"io"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

// TestInterruptedEvaluation: Ctrl-C interrupts the evaluation of a built-in component, too.
func TestInterruptedEvaluation(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancelCause(t.Context())
	stop(program.ErrInterrupted)
	errs := &strings.Builder{}
	env := program.Environment{Vars: []string{"HOME=" + t.TempDir()}, Dir: t.TempDir()}
	f := program.NewFactory(ui.Streams{Err: errs, Out: io.Discard}, env, program.Definition{}, nil)
	loader, err := f.Loader()
	must(t, err)
	found, err := loader.Find(t.Context(), "utils.echo")
	must(t, err)
	_, err = found.Build(stopped, component.Inputs{})
	if code := f.Report(stopped, withoutPosition(found, err)); code != spec.ExitCancelled || errs.String() != "torchx: interrupted\n" {
		t.Errorf("got exit code %d and %q, want %d and an interruption", code, errs.String(), spec.ExitCancelled)
	}
}
