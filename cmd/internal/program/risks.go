package program

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/components"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/consent"
	"torchx/runtime/envfile"
	"torchx/runtime/lazyregexp"
	"torchx/runtime/safefile"
	"torchx/runtime/userpath"
)

// Sections are the keys of the sections of .torchxconfig that belong to no backend, as options.
// "component" holds the arguments of built-in components that are not harmless.
var Sections = map[string][]backend.Option{
	"torchx": {
		{Key: "env_file", Risk: backend.Loads, Type: backend.TypeStr},
		{Key: "env_file_secrets", Risk: backend.Exports, Type: backend.TypeBool, Default: true},
		{Key: "image", Risk: backend.Elsewhere, Type: backend.TypeStr},
		{Key: "on_end", Risk: backend.Executes, Type: backend.TypeStr},
		{Key: "provenance", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "secrets", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "tags", Risk: backend.Harmless, Type: backend.TypeStr},
	},
	"cli:run": {
		{Key: "scheduler", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "backend", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "workspace", Risk: backend.Exports, Type: backend.TypeStr},
		{Key: "component", Risk: backend.Harmless, Type: backend.TypeStr},
	},
	"cli:list": {
		{Key: "scheduler", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "backend", Risk: backend.Harmless, Type: backend.TypeStr},
	},
	"component": {
		{Key: "image", Risk: backend.Elsewhere, Type: backend.TypeStr},
		{Key: "mounts", Risk: backend.Escalates, Type: backend.TypeStr},
		{Key: "env", Risk: backend.Loads, Type: backend.TypeStr},
	},
}

// Setting is a value of a folder's .torchxconfig that needs the user's consent.
type Setting struct {
	config.Value
	Name  string // [SECTION] KEY
	Risk  backend.Risk
	Files []string // named by relative paths: their content matters, too
	own   bool     // trusting Files, all inside of the folder, is enough
}

// String returns `[SECTION] KEY = VALUE (RISK)`.
func (s *Setting) String() string {
	return fmt.Sprintf("%s = %s (%s)", s.Name, strings.ReplaceAll(s.Text, "\n", "; "), s.Risk)
}

// Settings returns the settings of a folder's .torchxconfig that need the user's consent.
func (f *Factory) Settings(folder string) (all []Setting, err error) {
	noEnv := func(string) (string, bool) { return "", false }
	conf, err := config.Load(config.Options{Cwd: folder, LookupEnv: noEnv})
	if err != nil {
		return nil, err
	}
	for _, section := range conf.Names() {
		options, b, err := f.optionsOf(section)
		if err != nil {
			return nil, err
		}
		for _, v := range conf.Section(section) {
			for _, o := range options {
				if s, risky := newSetting(o, v); risky {
					s.Name = "[" + section + "] " + v.Key
					s.addTrusted(b, o.Key)
					all = append(all, s)
				}
			}
		}
	}
	return all, nil
}

// optionsOf returns the options of a section, and the backend that it belongs to, nil if none.
func (f *Factory) optionsOf(section string) ([]backend.Option, backend.Backend, error) {
	if name, ok := strings.CutPrefix(section, "component:"); ok {
		module := strings.ReplaceAll(name[:max(strings.LastIndexByte(name, '.'), 0)], ".", "/")
		if _, err := fs.Stat(components.FS, module+".star"); err != nil {
			return nil, nil, nil // an image of the project's own component is what the user runs
		}
		return Sections["component"], nil, nil
	}
	reg, err := f.Registry()
	if err != nil {
		return nil, nil, err
	}
	if _, err := reg.Canonical(section); err != nil {
		return Sections[section], nil, nil
	}
	b, err := reg.Get(section)
	if err != nil {
		return nil, nil, err
	}
	return b.Options(), b, nil
}

// newSetting returns a value as the value of an option, and whether it needs consent. Invalid
// values do not: using them is an error.
func newSetting(o backend.Option, v config.Value) (s Setting, risky bool) {
	layer := backend.Layer{{Key: v.Key, Text: v.Text}}
	if _, ok := backend.Find(o.Key, layer); !ok || o.Risk == backend.Harmless {
		return s, false
	}
	cfg, _, err := backend.Resolve([]backend.Option{o}, layer)
	value := backend.FormatValue(cfg[o.Key])
	if err != nil || cfg[o.Key] == nil || value == "" || value == backend.FormatValue(o.Default) {
		return s, false
	}
	folder, _ := consent.Real(filepath.Dir(v.File)) // "" is no folder: nothing is inside of it
	s = Setting{Value: v, Risk: o.Risk}
	if o.Risk == backend.Executes || o.Risk == backend.Loads {
		s.Files = consent.Files(folder, v.Text)
	}
	switch {
	case o.Key == "env_file":
		return s, !harmlessFiles(folder, v.Text)
	case o.Key == "workspace":
		value = strings.TrimPrefix(value, "file://")
		risky = !plainPath().MatchString(value)
	case o.Risk == backend.Loads:
		return s, loaders().MatchString(v.Text)
	case o.Risk != backend.Writes:
		return s, true
	}
	path := absoluteIn(folder, value)
	if real, err := consent.Real(path); err == nil && real != path {
		s.Text += " -> " + real // a link that leads elsewhere later needs consent again
	}
	return s, risky || !consent.Inside(folder, path+"/torchx") // logs go below it, which may be a link
}

// absoluteIn returns path as an absolute path, relative to folder. It keeps "..", which Inside
// reads.
func absoluteIn(folder, path string) string {
	if expanded, err := userpath.Expand(path, ""); err == nil {
		path = expanded
	}
	if filepath.IsAbs(path) {
		return path
	}
	return folder + string(filepath.Separator) + path
}

var (
	// plainPath matches a workspace that is one folder; others are YAML.
	plainPath = lazyregexp.New(`^[\w./-]+$`)
	// loaders matches the setting of a variable by which programs find code to run.
	loaders = lazyregexp.New(`(?m)(^|[\s,;{"'])(LD_\w+|DYLD_\w+|PATH|BASH_ENV|ENV|IFS|BASH_FUNC\w*|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT)|PERLLIB|RUBY(LIB|OPT)|NODE_(OPTIONS|PATH)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|GIT_\w+)["']?\s*[=:]`)
)

// harmlessFiles reports whether files of variables are inside of folder, copy nothing from the
// environment and set no variable by which programs find code.
func harmlessFiles(folder, list string) bool {
	copies := false
	for _, name := range backend.SplitCSV(strings.ReplaceAll(list, "\n", ",")) {
		path := absoluteIn(folder, name)
		if !consent.Inside(folder, path) {
			return false
		}
		file, err := safefile.OpenInput(path)
		if err != nil {
			continue // the run reports it
		}
		all, _ := envfile.Read(file, name, func(string) (string, bool) { copies = true; return "", false })
		file.Close()
		for _, v := range all {
			copies = copies || loaders().MatchString(v.Name+"=")
		}
	}
	return !copies
}

// addTrusted adds the files that the backend reads and runs for the setting of an option.
func (s *Setting) addTrusted(b backend.Backend, key string) {
	t, ok := b.(backend.TrustedFiler)
	if !ok {
		return
	}
	files := slices.Collect(t.TrustedFiles(backend.Config{key: s.Text}))
	s.own = len(files) > 0
	for _, file := range files {
		s.own = s.own && consent.Inside(filepath.Dir(s.File), file)
	}
	s.Files = append(s.Files, files...)
}

// sumOf returns the sum of a file, or of the settings of a folder that need consent.
func (f *Factory) sumOf(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return consent.Sum(path)
	}
	all, err := f.Settings(path)
	sum := sha256.New()
	for i := range all {
		fmt.Fprintf(sum, "%q\n", all[i].String())
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}
