package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Module is a file that a component was loaded from, as recorded.
type Module struct {
	Label  string `json:"label"`
	Path   string `json:"path,omitempty"` // absolute; "" for a built-in or library file
	SHA256 string `json:"sha256"`         // "" for a file that cannot be read
}

// Inputs returns the files that the component of an app was loaded from, and the
// environment variables that it read.
func (c *Recorded) Inputs() (modules []Module, getenv map[string]string, err error) {
	if err := json.Unmarshal(c.Modules, &modules); err != nil {
		return nil, nil, err
	}
	if len(c.Getenv) > 0 {
		err = json.Unmarshal(c.Getenv, &getenv)
	}
	return modules, getenv, err
}

// UsesImage reports whether a role of the app runs in an image.
func (c *Recorded) UsesImage(image string) bool {
	for i := range c.App.Roles {
		if c.App.Roles[i].Image == image {
			return true
		}
	}
	return false
}

// ReadModules returns the modules with the hashes of their current content, as returned by
// read.
func ReadModules(modules []Module, read func(Module) ([]byte, error)) []Module {
	now := make([]Module, len(modules))
	for i, m := range modules {
		now[i] = Module{Label: m.Label, Path: m.Path}
		if data, err := read(m); err == nil {
			sum := sha256.Sum256(data)
			now[i].SHA256 = hex.EncodeToString(sum[:])
		}
	}
	return now
}

// ModuleChanges lists the files that differ; those below dir are relative to it.
func ModuleChanges(then, now []Module, dir string) []string {
	old, current := byFile(then), byFile(now)
	var changed []string
	for _, file := range slices.Sorted(maps.Keys(old)) {
		m, ok := current[file]
		switch {
		case !ok:
			changed = append(changed, old[file].name(dir)+" (not used any more)")
		case m.SHA256 == "":
			changed = append(changed, m.name(dir)+" (gone)")
		case m.SHA256 != old[file].SHA256:
			changed = append(changed, m.name(dir))
		}
	}
	for _, file := range slices.Sorted(maps.Keys(current)) {
		if _, ok := old[file]; !ok {
			changed = append(changed, current[file].name(dir)+" (new)")
		}
	}
	return changed
}

// byFile indexes modules by file: elsewhere a label may mean a different file.
func byFile(modules []Module) map[string]Module {
	m := map[string]Module{}
	for _, module := range modules {
		file := module.Path
		if file == "" {
			file = module.Label
		}
		m[file] = module
	}
	return m
}

func (m Module) name(dir string) string {
	if m.Path == "" {
		return m.Label
	}
	if short, err := filepath.Rel(dir, m.Path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return m.Path
}

// ModulesRoot returns the root of the project that the modules belong to, derived from the
// files of the project itself; "" if there are none.
func ModulesRoot(modules []Module) string {
	for _, m := range modules {
		name, inProject := strings.CutPrefix(m.Label, "//")
		if root, ok := strings.CutSuffix(filepath.ToSlash(m.Path), "/"+name); inProject && ok {
			return filepath.FromSlash(root)
		}
	}
	return ""
}

// EnvChange is a variable that was read with a different value; nil means that it was unset
// or not read.
type EnvChange struct {
	Name     string
	Was, Now *string
}

// EnvChanges returns the variables that differ: those in then by name, then new ones.
func EnvChanges(then, now map[string]string) []EnvChange {
	var changes []EnvChange
	for _, name := range slices.Sorted(maps.Keys(then)) {
		was := then[name]
		is, ok := now[name]
		if !ok {
			changes = append(changes, EnvChange{Name: name, Was: &was})
		} else if is != was {
			changes = append(changes, EnvChange{Name: name, Was: &was, Now: &is})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := then[name]; !ok {
			is := now[name]
			changes = append(changes, EnvChange{Name: name, Now: &is})
		}
	}
	return changes
}
