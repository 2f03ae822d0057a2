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
		{Key: "env_file_secrets", Risk: backend.Harmless, Type: backend.TypeBool},
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
		options, b, err := f.optionsOf(section)
		if err != nil {
			return nil, err
		}
		for _, v := range conf.Section(section) {
			for _, o := range options {
				if s, risky := newSetting(o, v); risky {
					s.Name = "[" + section + "] " + v.Key
					s.addTrusted(b, o.Key, f.Env.Get)
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
	plainPath = lazyregexp.New(`^(file://)?[\w./-]+$`)
	// loaders matches the setting of a variable by which programs find code to run.
	loaders = lazyregexp.New(`(?m)(^|[\s,;{"'])(` +
		`LD_\w+|DYLD_\w+|GCONV_PATH|OPENSSL_(CONF|MODULES|ENGINES)|NCCL_\w*PLUGIN|PATH|HOME|XDG_CONFIG_HOME|` +
		`BASH_ENV|BASH_FUNC[^=:]*|ZDOTDIR|PYTHON(PATH|HOME|STARTUP|USERBASE)|PERL(5LIB|5OPT|LIB)|RUBY(LIB|OPT)|NODE_(OPTIONS|PATH)|` +
		`(JDK_)?JAVA_(TOOL_)?OPTIONS|_JAVA_OPTIONS|CLASSPATH|LUA_INIT\w*|LUA_C?PATH\w*|R_PROFILE\w*|` +
		`GIT_(SSH\w*|EXTERNAL_DIFF|EXEC_PATH|PAGER|ASKPASS|CONFIG\w*|PROXY_COMMAND|EDITOR))["']?\s*[=:]`)
)

// harmlessFiles reports whether the files of variables that s names are inside of folder, copy nothing
// from the environment and set no variable by which programs find code.
func (s *Setting) harmlessFiles(folder string) bool {
	copies := false
	s.Files = nil
	for _, name := range backend.SplitCSV(strings.ReplaceAll(s.Text, "\n", ",")) {
		path := absoluteIn(folder, name)
		if !consent.Inside(folder, path) {
			copies = true
			continue
		}
		file, err := safefile.OpenInput(path)
		if err != nil {
			continue // the run reports it
		}
		s.Files = append(s.Files, path)
		all, _ := envfile.Read(file, name, func(string) (string, bool) { copies = true; return "", false })
		file.Close()
		for _, v := range all {
			copies = copies || loaders().MatchString(v.Name+"=")
		}
	}
	return !copies
}

// addTrusted adds the files that the backend reads and runs for the setting of an option: a
// kubeconfig and its programs, none for one of the user.
func (s *Setting) addTrusted(b backend.Backend, key string, getenv func(string) string) {
	t, ok := b.(backend.TrustedFiler)
	if !ok || s.Risk != backend.Executes {
		return
	}
	folder := filepath.Dir(s.File)
	paths := filepath.SplitList(s.Text)
	for i := range paths {
		paths[i] = absoluteIn(folder, paths[i])
	}
	path := strings.Join(paths, string(filepath.ListSeparator))
	files := slices.Collect(t.TrustedFiles(backend.Config{key: path}))
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
