package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/components"
	"torchx/runtime/runner"
	"torchx/runtime/safefile"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// sayChanges warns about files of the component and variables it reads that changed since
// the app ran. built is nil if the component fails now; then the recorded files are checked.
func sayChanges(f *program.Factory, past *runner.Recorded, built *component.Result) {
	modules, env, err := past.Inputs()
	if err != nil {
		f.Warn("changes of the component of %s are unknown: its record cannot be read", past.Ref.Handle())
		return
	}
	files := runner.ModuleChanges(modules, modulesNow(f, modules, built), past.Cwd)
	if len(files) > 0 {
		f.Warn("changed since %s ran: %s (--recorded runs the app as it was recorded)",
			past.Ref.Handle(), strings.Join(files, ", "))
	}
	if built == nil {
		return
	}
	vars := envChanges(f, runner.EnvChanges(env, built.Getenv))
	if len(vars) > 0 {
		f.Warn("variables that the component reads changed since %s ran: %s", past.Ref.Handle(),
			strings.Join(vars, ", "))
	}
	if len(files) == 0 && len(vars) == 0 && slices.Equal(past.Args, built.Args) {
		sayResourceChanges(f, past, built)
	}
	recorded, err := planning.ReadRecorded(past.Request)
	image, imageErr := f.Image()
	if err == nil && imageErr == nil && recorded.Image != "" && image != recorded.Image &&
		past.UsesImage(recorded.Image) {
		f.Warn("torchx.IMAGE changed since %s ran (was %s, now %s)", past.Ref.Handle(),
			recorded.Image, image)
	}
}

// sayResourceChanges warns about roles that get another resource although the component and
// its arguments are the same: then a named resource of the project changed. The record has
// values, not names, so sections are found by their current values.
func sayResourceChanges(f *program.Factory, past *runner.Recorded, built *component.Result) {
	var changed, sections []string
	for i := range built.App.Roles {
		role := &built.App.Roles[i]
		at := slices.IndexFunc(past.App.Roles, func(r spec.Role) bool { return r.Name == role.Name })
		if at >= 0 && !sameJSON(past.App.Roles[at].Resource, role.Resource) {
			changed = append(changed, role.Name)
			sections = append(sections, sectionsOf(f, role.Resource)...)
		}
	}
	if len(changed) == 0 {
		return
	}
	if slices.Sort(sections); len(sections) == 0 {
		sections = []string{"[resource:...] of .torchxconfig"}
	}
	f.Warn("%s changed since %s ran: role %s gets another resource (see `torchx diff %s`)",
		strings.Join(slices.Compact(sections), " or "), past.Ref.Handle(), strings.Join(changed, ", "), past.Ref.Handle())
}

// sectionsOf returns the sections of the project that define the resource.
func sectionsOf(f *program.Factory, want spec.Resource) []string {
	named, err := f.ProjectResources()
	if err != nil {
		return nil // building the component has reported the error
	}
	var list []string
	for _, n := range named {
		if sameJSON(n.Resource, want) {
			list = append(list, fmt.Sprintf("[resource:%s] (%s)", n.Name, f.ShortPath(n.Origin)))
		}
	}
	return list
}

// sameJSON reports whether two values have the same JSON, as nil and empty maps have.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// modulesNow returns the current files of the component.
func modulesNow(
	f *program.Factory, modules []runner.Module, built *component.Result,
) []runner.Module {
	if built == nil {
		return runner.ReadModules(modules, func(m runner.Module) ([]byte, error) { return readModule(f, m, modules) })
	}
	now := make([]runner.Module, len(built.Modules))
	for i, m := range built.Modules {
		now[i] = runner.Module(m)
	}
	return now
}

func readModule(f *program.Factory, m runner.Module, all []runner.Module) ([]byte, error) {
	if m.Path != "" {
		return safefile.ReadInput(m.Path, interp.MaxSource)
	}
	library, name, _ := strings.Cut(strings.TrimPrefix(m.Label, "@"), "//")
	if library == "torchx" {
		return fs.ReadFile(components.FS, name)
	}
	return f.ReadModule(cmp.Or(runner.ModulesRoot(all), f.ProjectRoot()), library, name)
}

// envChanges describes variables that changed, with their values unless they are secrets.
func envChanges(f *program.Factory, changes []runner.EnvChange) []string {
	rules, _ := f.SecretRules()
	show := func(name string, value *string) string {
		if value == nil || f.ShowSecrets {
			return ui.QuoteWord(*cmp.Or(value, new(string)))
		}
		return ui.QuoteWord(rules.Value(name, *value))
	}
	var described []string
	for _, c := range changes {
		was, now := show(c.Name, c.Was), show(c.Name, c.Now)
		switch {
		case c.Now == nil:
			described = append(described, fmt.Sprintf("%s (was %s, now not set or not read)", c.Name, was))
		case c.Was == nil:
			described = append(described, fmt.Sprintf("%s (was not set or not read, now %s)", c.Name, now))
		case now == secrets.Hidden:
			described = append(described, c.Name)
		default:
			described = append(described, fmt.Sprintf("%s (was %s, now %s)", c.Name, was, now))
		}
	}
	return described
}
