package program

import (
	"cmp"
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
	"torchx/runtime/safefile"
)

// Setting is a value of a folder's .torchxconfig that needs the user's consent.
type Setting struct {
	config.Value
	Name  string // [SECTION] KEY
	Risk  backend.Risk
	Files []string // named by relative paths: their content matters, too
	own   bool     // trusting Files, all inside of the folder, is enough
	usual bool     // the environment chooses the same
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
		options, filer, err := f.optionsOf(section)
		if err != nil {
			return nil, err
		}
		for _, v := range conf.Section(section) {
			for _, o := range options {
				if s, risky := newSetting(o, v); risky {
					s.Name = "[" + section + "] " + v.Key
					s.addTrusted(filer, o.Key, f.Env.Get)
					all = append(all, s)
				}
			}
		}
	}
	return all, nil
}

// isBackend reports whether a section is the name of a backend or an alias of one.
func isBackend(reg *backend.Registry, section string) bool {
	_, err := reg.Canonical(section)
	return err == nil
}

// optionsOf returns the options of a section, and what tells the files that they name, nil if
// nothing.
func (f *Factory) optionsOf(section string) ([]backend.Option, backend.TrustedFiler, error) {
	if name, ok := strings.CutPrefix(section, "component:"); ok {
		module := strings.ReplaceAll(name[:max(strings.LastIndexByte(name, '.'), 0)], ".", "/")
		if _, err := fs.Stat(components.FS, module+".star"); err == nil {
			return Sections["component"], nil, nil
		}
		return nil, nil, nil // an image of the project's own component is what the user runs
	}
	reg, err := f.Registry()
	if err != nil {
		return nil, nil, err
	}
	if !isBackend(reg, section) {
		return Sections[section], nil, nil
	}
	b, err := reg.Get(section)
	if err != nil {
		return nil, nil, err
	}
	return b.Options(), b.Capabilities().Trusted, nil
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
	folder, _ := consent.Real(filepath.Dir(v.File)) // nothing is inside of ""
	s = Setting{Value: v, Risk: o.Risk}
	if o.Risk == backend.Executes || o.Risk == backend.Loads {
		s.Files = consent.Files(folder, v.Text)
	}
	path := absoluteIn(folder, strings.TrimPrefix(value, "file://"))
	switch {
	case o.Key == "env_file":
		return s, !s.harmlessFiles(folder)
	case o.Key == "workspace":
		risky = !plainPath().MatchString(value)
	case o.Risk == backend.Writes:
		path += "/torchx" // apps get folders below it, which may be a link
	default:
		return s, o.Risk != backend.Loads || loaders().MatchString(v.Text)
	}
	if real, err := consent.Real(path); err == nil && real != path {
		s.Text += " -> " + real // a link that leads elsewhere later needs consent again
	}
	return s, risky || !consent.Inside(folder, path)
}

// absoluteIn returns path as an absolute path, relative to folder. It keeps "..", which Inside
// reads.
func absoluteIn(folder, path string) string {
	if expanded, err := safefile.ExpandHome(path, ""); err == nil {
		path = expanded
	}
	if filepath.IsAbs(path) {
		return path
	}
	return folder + string(filepath.Separator) + path
}

// addTrusted adds the files that the backend reads and runs for the setting of an option: a
// kubeconfig and its programs, none for one of the user.
func (s *Setting) addTrusted(filer backend.TrustedFiler, key string, getenv func(string) string) {
	if filer == nil || s.Risk != backend.Executes {
		return
	}
	folder := filepath.Dir(s.File)
	paths := filepath.SplitList(s.Text)
	for i := range paths {
		paths[i] = absoluteIn(folder, paths[i])
	}
	path := strings.Join(paths, string(filepath.ListSeparator))
	files := slices.Collect(filer.TrustedFiles(backend.Config{key: path}))
	s.Files = append(s.Files, files...)
	s.own = len(files) > 0 && !slices.ContainsFunc(files, func(file string) bool { return !consent.Inside(folder, file) })
	s.usual = path == cmp.Or(getenv("KUBECONFIG"), filepath.Join(getenv("HOME"), ".kube", "config"))
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
