package setup

import (
	"fmt"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/humanize"
)

// settings explains the settings that the program itself reads from files and the environment.
func (x *explainer) settings() error {
	home, err := x.Env.Home()
	if err != nil {
		return err
	}
	reg, err := x.Registry()
	if err != nil {
		return err
	}
	add := func(o setting) { x.out.Settings = append(x.out.Settings, o) }
	add(x.setting("home", home, "TORCHX_HOME"))
	add(x.setting("backend", reg.Names()[0], "", key{"cli:run", "scheduler"}, key{"cli:run", "backend"}))
	add(x.setting("component", nil, "", key{"cli:run", "component"}))
	add(x.setting("workspace", nil, "", key{"cli:run", "workspace"}))
	add(x.setting("image", program.DefaultImage, "TORCHX_IMAGE", key{"torchx", "image"}))
	add(x.trackers())
	add(x.setting("tags", nil, "", key{"torchx", "tags"}))
	add(x.setting("secrets", nil, "TORCHX_SECRETS", key{"torchx", "secrets"}))
	add(x.setting("log_level", "info", "LOGLEVEL"))
	add(x.setting("parent_run_id", nil, "TORCHX_PARENT_RUN_ID"))
	add(x.setting("session_id", nil, "TORCHX_INTERNAL_SESSION_ID"))
	return nil
}

// key is a key in a section of the configuration files.
type key struct{ section, name string }

// setting explains one value: from the variable, else from the first key that is set, else
// the default. An empty variable counts as unset.
func (x *explainer) setting(name string, fallback any, variable string, keys ...key) setting {
	found := []given{}
	if v := x.Env.Get(variable); v != "" && variable != "" {
		found = append(found, given{x.shown(name, v), sourceEnv, ui.NullString("$" + variable)})
	}
	for _, k := range keys {
		if v, ok := x.conf.Get(k.section, k.name); ok {
			found = append(found, x.configured(v, v.Key))
		}
	}
	for _, k := range keys {
		for _, v := range x.conf.Hidden(k.section) {
			if v.Key == k.name {
				found = append(found, x.configured(v, v.Key))
			}
		}
	}
	at := newSetting(name, given{Value: fallback, Source: sourceDefault})
	if fallback == nil {
		at.Source = sourceNone
	}
	if len(found) > 0 {
		at.given, at.Hidden = found[0], found[1:]
	}
	if name == "secrets" { // values from all sources are combined
		for i := range at.Hidden {
			at.Value = fmt.Sprintf("%v,%v", at.Value, at.Hidden[i].Value)
			at.Origin += ", " + at.Hidden[i].Origin
		}
		at.Hidden = []given{}
	}
	return at
}

// configured returns a value of a file; name tells whether it is a secret.
func (x *explainer) configured(v config.Value, name string) given {
	return given{x.shown(name, v.Text), sourceFile, ui.NullString(v.Origin())}
}

func (x *explainer) trackers() setting {
	at := x.setting("trackers", nil, "TORCHX_TRACKERS")
	if at.Source == sourceEnv {
		return at
	}
	for _, v := range x.conf.Section("torchx:tracker") {
		if at.Source == sourceNone {
			at.given = given{v.Key, sourceFile, ui.NullString(v.Origin())}
			continue
		}
		at.Value = fmt.Sprintf("%v,%s", at.Value, v.Key)
	}
	return at
}

// unusedSections notes sections and keys in the files that have no effect.
func (x *explainer) unusedSections(o configOptions) error {
	known := []string{"torchx", "cli:run", "cli:list", "torchx:tracker"}
	reg, err := x.Registry()
	if err != nil {
		return err
	}
	for _, name := range reg.Names() {
		names := append([]string{name}, reg.AliasesOf(name)...)
		known = append(known, names...)
		b, err := reg.Get(name)
		if err != nil {
			return err
		}
		var layer backend.Layer
		for _, v := range x.conf.Backend(names...) {
			if v.Section != "DEFAULT" { // may be meant for other sections
				layer = append(layer, backend.Value{Key: v.Key, Text: v.Text, Origin: v.Origin()})
			}
		}
		for _, w := range backend.Unused(b.Options(), layer) {
			x.note(w)
		}
	}
	for _, section := range x.conf.Names() {
		x.unusedSection(section, known, o)
	}
	return nil
}

// unusedSection notes a section that has no effect, or its keys without effect; backends are
// checked elsewhere.
func (x *explainer) unusedSection(section string, known []string, o configOptions) {
	values := x.conf.Section(section)
	prefix, name, _ := strings.Cut(section, ":")
	var allowed []string
	for _, o := range program.Sections[section] {
		allowed = append(allowed, o.Key)
	}
	switch {
	case allowed != nil && section != "component":
		for _, v := range values {
			if v.Section != "DEFAULT" && !slices.Contains(allowed, v.Key) {
				x.unknown(v, "key of ["+section+"]", allowed)
			}
		}
	case slices.Contains(known, section) || prefix == "tracker" || prefix == "resource":
	case prefix == "component":
		x.unknownComponent(name, section, values, o)
	case len(values) > 0:
		x.note(fmt.Sprintf("%s: unknown section [%s] has no effect.%s", values[0].Origin(), section, humanize.Hint(section, known)))
	}
}

// unknownComponent notes a section for a component that does not exist.
func (x *explainer) unknownComponent(name, section string, values []config.Value, o configOptions) {
	loader, err := x.Loader()
	if err != nil || len(values) == 0 || strings.Contains(name, ":") ||
		name == string(x.out.Component) || name == o.component {
		return // a component in a file can only be checked by its reference
	}
	var names []string
	for _, s := range loader.Known() {
		names = append(names, s.Name)
	}
	if !slices.Contains(names, name) {
		x.note(fmt.Sprintf("%s: section [%s] is for an unknown component.%s", values[0].Origin(), section, humanize.HintPath(name, names)))
	}
}

// unknown notes a key that is not among the known ones.
func (x *explainer) unknown(v config.Value, what string, among []string) {
	x.note(fmt.Sprintf("%s: %s is not a %s and has no effect.%s", v.Origin(), v.Key, what, humanize.Hint(v.Key, among)))
}
