package planning

import (
	"context"
	"slices"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// maxAfter bounds the apps that one app waits for: each is a watch.
const maxAfter = 64

// ApplyAfter adds to a plan, and to its record, the apps that must end before it starts: those of
// o, else those that a saved plan has. An only empty one means none. It contacts nothing; a dry
// run prints them.
func ApplyAfter(ctx context.Context, f *program.Factory, o Options, p *runner.Planned) error {
	texts := o.After
	if len(texts) == 0 {
		for _, a := range p.Plan.After {
			texts = append(texts, a.String())
		}
	}
	p.Plan.After = nil
	if len(texts) == 0 || len(texts) == 1 && texts[0] == "" {
		return nil
	}
	if len(texts) > maxAfter {
		return program.Usagef(o.Command, "--after is given %d times, at most %d", len(texts), maxAfter)
	}
	for _, text := range texts {
		handle, anyEnd := backend.CutAfter(text)
		_, ref, err := f.Resolve(ctx, handle)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(p.Plan.After, func(a backend.After) bool { return a.App == ref }) {
			return program.Usagef(o.Command, "--after names %s twice", ref.Handle())
		}
		a := backend.After{App: ref, Any: anyEnd}
		p.Plan.After = append(p.Plan.After, a)
		if !o.Submit {
			f.Say("starts after %s", a)
		}
	}
	var err error
	p.Request, err = changeRecord(p.Request, func(r *Recorded) error {
		r.After = p.Plan.After
		return nil
	})
	return err
}
