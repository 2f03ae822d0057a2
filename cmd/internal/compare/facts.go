package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// Parts of a comparison, in their order of output.
var parts = []string{"arguments", "options", "environment", "code", "libraries"}

// factKey names a fact.
type factKey struct {
	part int // index of parts
	name string
}

// fact is a value: as it is, to compare, and as it is shown, with secrets hidden.
type fact struct{ value, shown string }

// componentFact is the name of the component among the arguments.
const componentFact = "component"

// ownVariables differ between all runs.
var ownVariables = []string{spec.JobIDVariable, "TORCHX_INTERNAL_SESSION_ID"}

// factsOf returns what an app was given.
func factsOf(f *program.Factory, record *history.App) (map[factKey]fact, error) {
	values := [numParts]map[string]string{history.ArgumentValues(record.Args), {}, {}, codeOf(record), {}}
	if record.Component != "" {
		values[0][componentFact] = record.Component
	}
	var cfg map[string]json.RawMessage
	if len(record.Cfg) > 0 {
		if err := json.Unmarshal(record.Cfg, &cfg); err != nil {
			return nil, fmt.Errorf("read the options of %s: %w", record.Handle(), err)
		}
	}
	for name, raw := range cfg {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		values[1][name] = text
	}
	app := &spec.App{}
	if len(record.Spec) > 0 {
		if err := json.Unmarshal(record.Spec, app); err != nil {
			return nil, fmt.Errorf("read the record of %s: %w", record.Handle(), err)
		}
	}
	for i := range app.Roles {
		role := &app.Roles[i]
		for _, e := range role.Env {
			name := e.Key
			if len(app.Roles) > 1 {
				name = role.Name + "." + name
			}
			if !slices.Contains(ownVariables, e.Key) {
				values[2][name] = e.Value
			}
		}
	}
	for _, l := range record.Libraries {
		values[4][l.Name] = strings.TrimPrefix(program.LibrariesText([]history.Library{l}), l.Name+" ")
	}
	limits, _ := app.Limits() // validated at its submission
	return masked(f, values, limits.SecretEnv)
}

// numParts is the length of parts.
const numParts = 5

// masked returns values as facts.
func masked(
	f *program.Factory, values [numParts]map[string]string, secretEnv []string,
) (map[factKey]fact, error) {
	if len(secretEnv) > 0 {
		f = f.With(func(*program.Factory) {}) // another run may show variables of that name
		f.HideVariables(secretEnv)
	}
	data, err := f.MaskedJSON(values)
	if err != nil {
		return nil, err
	}
	var shown [numParts]map[string]string
	if err := json.Unmarshal(data, &shown); err != nil {
		return nil, err
	}
	facts := map[factKey]fact{}
	for part := range values {
		for name, value := range values[part] {
			facts[factKey{part, name}] = fact{value, shown[part][name]}
		}
	}
	return facts, nil
}

// codeOf returns the versions of what an app was made from.
func codeOf(record *history.App) map[string]string {
	values := map[string]string{}
	if record.Version != "" {
		values["torchx"] = record.Version
	}
	if c := record.Checkout; c != nil {
		values["commit"] = program.CommitText(c)
		changes := program.ChangesText(c)
		if c.Changed == 0 && c.Dirty != nil {
			changes = "none" // untracked files may be what a run wrote
		}
		if c.DiffSum != "" {
			changes = "diff " + c.DiffSum[:min(12, len(c.DiffSum))]
		}
		values["changes"] = cmp.Or(changes, "unknown")
	}
	modules, _, err := (&runner.Recorded{Source: record.Source}).Inputs()
	if err != nil {
		return values // an app from a file has none
	}
	for _, m := range modules {
		values[m.Label] = m.SHA256[:min(12, len(m.SHA256))]
	}
	return values
}

// rank is the place of a fact in its part: the component comes first.
func rank(key factKey) int {
	if key.name == componentFact {
		return 0
	}
	return 1
}

// difference is a fact that is not the same in all runs.
type difference struct {
	key   factKey
	shown []*string // by run; nil: the run does not have it
}

// findDifferences compares the facts of all runs.
func (c *comparison) findDifferences() {
	keys := map[factKey]bool{}
	for _, r := range c.runs {
		for key := range r.facts {
			keys[key] = true
		}
	}
	sorted := slices.SortedFunc(maps.Keys(keys), func(a, b factKey) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.name, b.name))
	})
	for _, key := range sorted {
		d, same := difference{key: key}, true
		first, inFirst := c.runs[0].facts[key]
		for _, r := range c.runs {
			value, ok := r.facts[key]
			same = same && ok == inFirst && value.value == first.value
			if ok {
				d.shown = append(d.shown, &value.shown)
			} else {
				d.shown = append(d.shown, nil)
			}
		}
		if !same {
			c.differences = append(c.differences, d)
		}
	}
}
