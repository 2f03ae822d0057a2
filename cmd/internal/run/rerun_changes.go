package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/components"
	"torchx/runtime/runner"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

// sayChanges warns of what is not as it was when the app ran: files of its
// component and variables that it reads. built is nil if the component fails now:
// then the files that it had are looked at.
func sayChanges(t *program.Factory, past *runner.Recorded, built *component.Result) {
	var modules []component.Module
	var env map[string]string
	if json.Unmarshal(past.Modules, &modules) != nil || len(past.Getenv) > 0 && json.Unmarshal(past.Getenv, &env) != nil {
		t.Warn("whether the component of %s has changed is not known: its record cannot be read", past.Ref.Handle())
		return
	}
	now := current(t, modules)
	if built != nil {
		now = built.Modules
	}
	files := moduleChanges(modules, now, past.Cwd)
	if len(files) > 0 {
		t.Warn("changed since %s ran: %s (--recorded runs the app as it was)", past.Ref.Handle(), strings.Join(files, ", "))
	}
	if built == nil {
		return
	}
	vars := envChanges(t, env, built.Getenv)
	if len(vars) > 0 {
		t.Warn("variables that the component reads changed since %s ran: %s", past.Ref.Handle(), strings.Join(vars, ", "))
	}
	if len(files) == 0 && len(vars) == 0 && slices.Equal(past.Args, built.Args) {
		sayResourceChanges(t, past, built)
	}
	was, err := ReadAsked(past.Request)
	image, imageErr := t.Image()
	if err == nil && imageErr == nil && was.Image != "" && image != was.Image && usesImage(past, was.Image) {
		t.Warn("torchx.IMAGE changed since %s ran: it was %s, it is %s", past.Ref.Handle(), was.Image, image)
	}
}

// sayResourceChanges warns of roles that get another resource although the component
// and its arguments are the same: then what a name of the project stands for changed.
// The record has the values, not the names: a section is named by what it says now.
func sayResourceChanges(t *program.Factory, past *runner.Recorded, built *component.Result) {
	var changed, sections []string
	for i := range built.App.Roles {
		role := &built.App.Roles[i]
		at := slices.IndexFunc(past.App.Roles, func(r spec.Role) bool { return r.Name == role.Name })
		if at >= 0 && !sameJSON(past.App.Roles[at].Resource, role.Resource) {
			changed = append(changed, role.Name)
			sections = append(sections, sectionsOf(t, role.Resource)...)
		}
	}
	if len(changed) == 0 {
		return
	}
	if slices.Sort(sections); len(sections) == 0 {
		sections = []string{"[resource:...] of .torchxconfig"}
	}
	t.Warn("what %s says changed since %s ran: role %s gets another resource (see torchx diff %s)",
		strings.Join(slices.Compact(sections), " or "), past.Ref.Handle(), strings.Join(changed, ", "), past.Ref.Handle())
}

// sectionsOf lists the sections of the project that define a resource so.
func sectionsOf(t *program.Factory, want spec.Resource) []string {
	named, err := t.ProjectResources()
	if err != nil {
		return nil // the component was built with them, so that this has been said
	}
	var list []string
	for _, n := range named {
		if sameJSON(n.Resource, want) {
			list = append(list, fmt.Sprintf("[resource:%s] (%s)", n.Name, t.ShortPath(n.Origin)))
		}
	}
	return list
}

// sameJSON reports whether two values are written alike: nil and empty maps are.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func usesImage(past *runner.Recorded, image string) bool {
	for i := range past.App.Roles {
		if past.App.Roles[i].Image == image {
			return true
		}
	}
	return false
}

// moduleChanges names the files that differ, those below dir relative to it.
func moduleChanges(then, now []component.Module, dir string) []string {
	old, current := byPlace(then), byPlace(now)
	var changed []string
	for _, place := range ui.Keys(old) {
		m, there := current[place]
		switch {
		case !there:
			changed = append(changed, moduleName(old[place], dir)+" (not used any more)")
		case m.SHA256 == "":
			changed = append(changed, moduleName(m, dir)+" (gone)")
		case m.SHA256 != old[place].SHA256:
			changed = append(changed, moduleName(m, dir))
		}
	}
	for _, place := range ui.Keys(current) {
		if _, there := old[place]; !there {
			changed = append(changed, moduleName(current[place], dir)+" (new)")
		}
	}
	return changed
}

// byPlace keys modules by where they are: a label may mean another file elsewhere.
func byPlace(modules []component.Module) map[string]component.Module {
	m := map[string]component.Module{}
	for _, module := range modules {
		place := module.Path
		if place == "" {
			place = module.Label
		}
		m[place] = module
	}
	return m
}

func moduleName(m component.Module, dir string) string {
	if m.Path == "" {
		return m.Label
	}
	if short, err := filepath.Rel(dir, m.Path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return m.Path
}

// current is what files are now; the SHA256 of one that cannot be read is "".
func current(t *program.Factory, modules []component.Module) []component.Module {
	top := topOf(t, modules)
	now := make([]component.Module, len(modules))
	for i, m := range modules {
		now[i] = component.Module{Label: m.Label, Path: m.Path}
		data, err := readNow(t, m, top)
		if err == nil {
			sum := sha256.Sum256(data)
			now[i].SHA256 = hex.EncodeToString(sum[:])
		}
	}
	return now
}

func readNow(t *program.Factory, m component.Module, top string) ([]byte, error) {
	if m.Path != "" {
		return os.ReadFile(m.Path)
	}
	library, name, _ := strings.Cut(strings.TrimPrefix(m.Label, "@"), "//")
	if library == "torchx" {
		return fs.ReadFile(components.FS, name)
	}
	return t.ReadModule(top, library, name)
}

// topOf is the root of the project whose libraries the modules are: that of the files
// of the project itself, if there are any.
func topOf(t *program.Factory, modules []component.Module) string {
	for _, m := range modules {
		name, inProject := strings.CutPrefix(m.Label, "//")
		if top, ok := strings.CutSuffix(filepath.ToSlash(m.Path), "/"+name); inProject && ok {
			return filepath.FromSlash(top)
		}
	}
	return t.ProjectRoot()
}

// envChanges names variables that differ, with their values unless those are secrets.
func envChanges(t *program.Factory, then, now map[string]string) []string {
	rules, _ := t.SecretRules()
	show := func(name, value string) string {
		if t.ShowSecrets {
			return value
		}
		return rules.Value(name, value)
	}
	var changed []string
	for _, name := range ui.Keys(then) {
		value, there := now[name]
		was, is := show(name, then[name]), show(name, value)
		switch {
		case !there:
			changed = append(changed, fmt.Sprintf("%s (was %s, is not set or not read)", name, ui.QuoteWord(was)))
		case value == then[name]:
		case is == secrets.Hidden:
			changed = append(changed, name)
		default:
			changed = append(changed, fmt.Sprintf("%s (was %s, is %s)", name, ui.QuoteWord(was), ui.QuoteWord(is)))
		}
	}
	for _, name := range ui.Keys(now) {
		if _, there := then[name]; !there {
			changed = append(changed, fmt.Sprintf("%s (was not set or not read, is %s)", name, ui.QuoteWord(show(name, now[name]))))
		}
	}
	return changed
}
