package planning

import (
	"context"
	"path/filepath"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/consent"
	"torchx/runtime/onend"
	"torchx/runtime/runner"
)

// maxOnEnd bounds the actions at the end of an app, which run one after the other.
const maxOnEnd = 16

// Ends select what happens at the end of an app.
type Ends struct {
	OnEnd    []string // --on-end: commands and URLs
	HasOnEnd bool     // --on-end was given, maybe empty
}

// ApplyOnEnd adds to a plan what to do at its end: that of --on-end, else that of [torchx]
// on_end. If a project's file asks for it and submit is set, the user must trust the file.
func ApplyOnEnd(
	ctx context.Context, f *program.Factory, command string, e Ends, p *runner.Planned, submit bool,
) error {
	actions, trusted := e.OnEnd, map[string]string(nil)
	if e.HasOnEnd {
		if len(actions) == 1 && actions[0] == "" {
			return nil // turned off
		}
	} else {
		var err error
		if actions, trusted, err = configuredOnEnd(ctx, f, submit); err != nil {
			return err
		}
	}
	if len(actions) == 0 {
		return nil
	}
	if len(actions) > maxOnEnd {
		return program.Usagef(command, "--on-end is given %d times, at most %d",
			len(actions), maxOnEnd)
	}
	rules, _ := f.SecretRules() // without an invalid pattern
	for _, action := range actions {
		warning, err := onend.Check(action)
		if err != nil {
			return program.Usagef(command, "invalid --on-end %q: %v",
				onend.Label(action, rules), err)
		}
		if warning != "" {
			f.Warn("--on-end %s", warning)
		}
		if !submit {
			f.Say("on end: %s", onend.Label(action, rules))
		}
	}
	limits, err := p.Plan.App.Limits()
	if err != nil {
		return err
	}
	on := &backend.OnEnd{
		Actions: actions, Trusted: trusted, Dir: f.Env.Dir, Secrets: f.SecretPatterns(), Variables: limits.SecretEnv,
	}
	if p.Component != "" {
		on.Command = ui.OneLine(f.Masked(CommandText(f, p.Component, p.Args)))
	}
	for _, kv := range f.Env.Vars {
		on.Environ = append(on.Environ, []byte(kv))
	}
	p.Plan.OnEnd = on
	return nil
}

// configuredOnEnd returns the actions of [torchx] on_end, one a line, and the sums of the files
// that the user trusted them with.
func configuredOnEnd(
	ctx context.Context, f *program.Factory, submit bool,
) (actions []string, trusted map[string]string, err error) {
	conf, err := f.Config()
	if err != nil {
		return nil, nil, err
	}
	v, ok := conf.Get("torchx", "on_end")
	if !ok {
		return nil, nil, nil
	}
	for line := range strings.SplitSeq(v.Text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			actions = append(actions, line)
		}
	}
	if !submit || !v.Project {
		return actions, nil, nil
	}
	if err := f.Consent(ctx, submit, v.Origin()); err != nil {
		return nil, nil, err
	}
	trusted = map[string]string{}
	for _, file := range consent.Files(filepath.Dir(v.File), v.Text) {
		if trusted[file], err = consent.Sum(file); err != nil {
			return nil, nil, err
		}
	}
	return actions, trusted, nil
}
