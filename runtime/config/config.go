// Package config reads .torchxconfig files: defaults of commands, components,
// backends and trackers. Flags always win over them; who asks merges the two.
// Every value knows the file and line it stands in.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"torchx/runtime/safefile"
	"torchx/runtime/userpath"
)

// FileName is what a configuration file is called.
const FileName = ".torchxconfig"

// None is the text of a value that means "no value".
const None = "None"

// maxSize of a file in bytes: far more than is written by hand.
const maxSize = 1 << 20

// Value is one `key = value` of a file.
type Value struct {
	Key     string
	Text    string // %% is already %; lines of a long value are joined by \n
	File    string // absolute path
	Line    int    // of the key, from 1
	Section string // as written
	Project bool   // of a file that came with a folder: its author is not the user
}

// Origin is "file:line".
func (v Value) Origin() string { return fmt.Sprintf("%s:%d", v.File, v.Line) }

// IsNone reports whether the value says that there is none.
func (v Value) IsNone() bool { return v.Text == None }

// Tracker is one experiment tracker of [torchx:tracker].
type Tracker struct {
	Name   string
	Config string // `config` of [tracker:NAME], "" if none
}

// Options say where to look.
type Options struct {
	// LookupEnv finds TORCHXCONFIG and HOME; nil is os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	Cwd       string // absolute
}

// Config is what all files say. The zero value is empty.
type Config struct {
	files []*file // the first one wins
}

// Load reads the file named by TORCHXCONFIG alone if that is set (an empty text:
// no file), else .torchxconfig of the home and of the working folder. Errors are
// one line: FILE:LINE: what is wrong.
func Load(o Options) (*Config, error) {
	lookup := o.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if path, ok := lookup("TORCHXCONFIG"); ok {
		home, _ := lookup("HOME")
		if expanded, err := userpath.Expand(path, home); err == nil {
			path = expanded
		}
		return loadOnly(path, o.Cwd)
	}
	c := &Config{}
	var paths []string
	var own string // of the user
	if home, ok := lookup("HOME"); ok && home != "" {
		own = filepath.Join(home, FileName)
		paths = append(paths, own)
	}
	if path := filepath.Join(o.Cwd, FileName); !slices.Contains(paths, path) {
		paths = append(paths, path)
	}
	for _, path := range paths {
		switch err := c.add(path); {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrNotRegular):
		case err != nil:
			return nil, err
		case path != own:
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

// Files lists the paths that were read, the strongest first.
func (c *Config) Files() []string {
	var paths []string
	for _, f := range c.files {
		paths = append(paths, f.path)
	}
	return paths
}

// Names lists all sections but DEFAULT, in order, each once.
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

// Section returns the values of a section, merged over the files key by key: the
// first file's come first and win. It is empty for an unknown section.
func (c *Config) Section(name string) []Value { return c.Backend(name) }

// Backend returns the values for a backend: those of the section of its
// canonical name, then those of its aliases. A key given by an earlier name or file wins.
func (c *Config) Backend(names ...string) []Value {
	counting, _ := c.split(names)
	return counting
}

// Hidden returns the values that Backend, or Section for one name, leaves out
// because a stronger one has the same key.
func (c *Config) Hidden(names ...string) []Value {
	_, hidden := c.split(names)
	return hidden
}

// split returns the values that count, and the others.
func (c *Config) split(names []string) (counting, hidden []Value) {
	seen := map[string]bool{}
	met := map[Value]bool{} // DEFAULT's come with each section, and a name may be given twice
	for _, f := range c.files {
		for _, name := range names {
			for _, v := range f.values(name) {
				switch {
				case met[v]:
				case seen[v.Key]:
					hidden = append(hidden, v)
				default:
					seen[v.Key] = true
					counting = append(counting, v)
				}
				met[v] = true
			}
		}
	}
	return counting, hidden
}

// values of a section and then those of DEFAULT, which count in every section
// that is there.
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

// Get returns one value and whether it is there and not None.
func (c *Config) Get(section, key string) (Value, bool) {
	for _, v := range c.Section(section) {
		if v.Key == key {
			return v, !v.IsNone()
		}
	}
	return Value{}, false
}

// Component returns the arguments of [component:NAME]; those that are None are
// left out, so that the component's own default counts.
func (c *Config) Component(name string) map[string]string { return c.texts("component:" + name) }

// Cli returns the defaults of a command, [cli:CMD], without those that are None.
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

// Trackers lists the trackers of [torchx:tracker] in order, each with its config.
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

// Image is torchx.IMAGE of the components: `image` of the section [torchx].
func (c *Config) Image() (Value, bool) { return c.Get("torchx", "image") }
