// Package config reads what users write as keys and values: .torchxconfig files with defaults of
// commands, components, backends and trackers, which flags override (the caller merges both; every
// value has its file and line), files of environment variables, and maps on a command line.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"torchx/runtime/safefile"
)

// FileName is the name of a configuration file.
const FileName = ".torchxconfig"

// None is the text that means "no value".
const None = "None"

// maxSize bounds a file in bytes: far more than anyone writes by hand.
const maxSize = 1 << 20

// Value is one `key = value` of a file.
type Value struct {
	Key     string
	Text    string // with % for %%; lines of a long value are joined by \n
	File    string // absolute path
	Line    int    // line of the key, from 1
	Section string // as written
	Project bool   // from a file of the working folder: its author may not be the user
}

// Origin returns "file:line".
func (v Value) Origin() string { return fmt.Sprintf("%s:%d", v.File, v.Line) }

// IsNone reports whether the value means "no value".
func (v Value) IsNone() bool { return v.Text == None }

// Tracker is one experiment tracker of [torchx:tracker].
type Tracker struct {
	Name   string
	Config string // `config` of [tracker:NAME], "" if none
}

// Options are the options of Load.
type Options struct {
	// LookupEnv finds TORCHXCONFIG and HOME; nil means os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	Cwd       string // absolute
}

// Config holds the content of all files. The zero value is empty.
type Config struct {
	files []*file // the first one overrides the others
}

// Load reads only the file named by TORCHXCONFIG if that is set (an empty value: no file), else
// .torchxconfig of the home and of the working folder. Errors are one line, FILE:LINE: problem.
func Load(o Options) (*Config, error) {
	lookup := o.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if path, ok := lookup("TORCHXCONFIG"); ok {
		home, _ := lookup("HOME")
		if expanded, err := safefile.ExpandHome(path, home); err == nil {
			path = expanded
		}
		return loadOnly(path, o.Cwd)
	}
	c := &Config{}
	var paths []string
	var userFile string // the user's file
	if home, ok := lookup("HOME"); ok && home != "" {
		userFile = filepath.Join(home, FileName)
		paths = append(paths, userFile)
	}
	if path := filepath.Join(o.Cwd, FileName); !slices.Contains(paths, path) {
		paths = append(paths, path)
	}
	for _, path := range paths {
		switch err := c.add(path); {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrNotRegular):
		case err != nil:
			return nil, err
		case path != userFile:
			c.files[len(c.files)-1].setProject()
		}
	}
	return c, nil
}

func loadOnly(path, cwd string) (*Config, error) {
	c := &Config{}
	if path == "" {
		return c, nil
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(cwd, path)
	}
	switch err := c.add(full); {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrNotRegular):
		return nil, fmt.Errorf("TORCHXCONFIG=`%s` does not exist or is not a file", path)
	case err != nil:
		return nil, err
	}
	return c, nil
}

func (c *Config) add(path string) error {
	data, err := safefile.ReadInput(path, maxSize)
	switch {
	case errors.Is(err, safefile.ErrTooLarge):
		return fmt.Errorf("%s: is over %d bytes: not a configuration file", path, maxSize)
	case err != nil:
		return fmt.Errorf("read configuration: %w", err)
	}
	return c.addText(path, string(data))
}

func (c *Config) addText(path, text string) error {
	parsed, err := parse(path, text)
	if err != nil {
		return err
	}
	c.files = append(c.files, parsed)
	return nil
}

// Files returns the paths that were read, the strongest first.
func (c *Config) Files() []string {
	var paths []string
	for _, f := range c.files {
		paths = append(paths, f.path)
	}
	return paths
}

// Names returns all sections except DEFAULT, in order, without duplicates.
func (c *Config) Names() []string {
	var names []string
	seen := map[string]bool{defaultSection: true}
	for _, f := range c.files {
		for _, s := range f.sections {
			if !seen[s.name] {
				seen[s.name] = true
				names = append(names, s.name)
			}
		}
	}
	return names
}

// Section returns the values of a section, merged over the files: values of the first file come
// first and override others. It is empty for an unknown section.
func (c *Config) Section(name string) []Value { return c.Backend(name) }

// Backend returns the values for a backend: from the section of its canonical name, then from
// those of its aliases. Earlier names and files override later ones.
func (c *Config) Backend(names ...string) []Value {
	effective, _ := c.split(names)
	return effective
}

// Hidden returns the values that Backend, or Section for one name, omits because a stronger one
// overrides them.
func (c *Config) Hidden(names ...string) []Value {
	_, hidden := c.split(names)
	return hidden
}

// split returns the effective values, and the overridden ones.
func (c *Config) split(names []string) (effective, hidden []Value) {
	seen := map[string]bool{}
	done := map[Value]bool{} // values of DEFAULT come with each section, and names may repeat
	for _, f := range c.files {
		for _, name := range names {
			for _, v := range f.values(name) {
				switch {
				case done[v]:
				case seen[v.Key]:
					hidden = append(hidden, v)
				default:
					seen[v.Key] = true
					effective = append(effective, v)
				}
				done[v] = true
			}
		}
	}
	return effective, hidden
}

// values returns the values of a section, then those of DEFAULT, which apply to every existing
// section.
func (f *file) values(name string) []Value {
	s := f.byName[name]
	if s == nil {
		return nil
	}
	values := slices.Clone(s.values)
	if d := f.byName[defaultSection]; d != nil && d != s {
		for _, v := range d.values {
			if _, ok := s.lineOf[v.Key]; !ok {
				values = append(values, v)
			}
		}
	}
	return values
}

// Get returns a value and whether it exists and is not None.
func (c *Config) Get(section, key string) (Value, bool) {
	for _, v := range c.Section(section) {
		if v.Key == key {
			return v, !v.IsNone()
		}
	}
	return Value{}, false
}

// Component returns the arguments in [component:NAME], without None: the component's default
// applies then.
func (c *Config) Component(name string) map[string]string { return c.texts("component:" + name) }

// ComponentName returns the first of these names that has a section [component:NAME], or the first
// one. ignored describes sections of the other names, one line each.
func (c *Config) ComponentName(names []string) (name string, ignored []string) {
	name = names[0]
	found := false
	for _, n := range names {
		values := c.Section("component:" + n)
		switch {
		case len(values) == 0:
		case !found:
			name, found = n, true
		default:
			ignored = append(ignored, fmt.Sprintf("%s: section [component:%s] has no effect: [component:%s] is for the same component, remove one",
				values[0].Origin(), n, name))
		}
	}
	return name, ignored
}

// Cli returns the defaults of a command, [cli:CMD], without None.
func (c *Config) Cli(cmd string) map[string]string { return c.texts("cli:" + cmd) }

func (c *Config) texts(section string) map[string]string {
	m := map[string]string{}
	for _, v := range c.Section(section) {
		if !v.IsNone() {
			m[v.Key] = v.Text
		}
	}
	return m
}

// Trackers returns the trackers in [torchx:tracker] in order, each with its config.
func (c *Config) Trackers() []Tracker {
	var trackers []Tracker
	for _, v := range c.Section("torchx:tracker") {
		t := Tracker{Name: v.Key}
		if conf, ok := c.Get("tracker:"+v.Key, "config"); ok {
			t.Config = conf.Text
		}
		trackers = append(trackers, t)
	}
	return trackers
}

// Image returns torchx.IMAGE for components: `image` of the section [torchx].
func (c *Config) Image() (Value, bool) { return c.Get("torchx", "image") }
