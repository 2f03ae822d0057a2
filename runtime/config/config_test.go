package config

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func one(t *testing.T, text string) *Config {
	t.Helper()
	c := &Config{}
	if err := c.addText("f", text); err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func env(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

func TestGoldenFile(t *testing.T) {
	t.Parallel()
	c, err := Load(Options{LookupEnv: env(map[string]string{"TORCHXCONFIG": "testdata/torchxconfig"})})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Cli("run"); !reflect.DeepEqual(got, map[string]string{"component": "utils.echo", "scheduler": "local_docker"}) {
		t.Errorf("cli:run: got %v", got)
	}
	if got := c.Component("utils.echo"); !reflect.DeepEqual(got, map[string]string{"msg": "from config", "num_replicas": "2"}) {
		t.Errorf("component: got %v", got)
	}
	if got := c.Trackers(); !reflect.DeepEqual(got, []Tracker{{"fsspec", "/peer/fsspec.conf"}, {"mlf", ""}}) {
		t.Errorf("trackers: got %v", got)
	}
	var keys []string
	for _, v := range c.Backend("local", "local_cwd") {
		keys = append(keys, v.Key+"="+v.Text+"@"+v.Origin())
	}
	want := "log_dir=/peer/cfglogs@testdata/torchxconfig:10 prepend_cwd=on@testdata/torchxconfig:11 bogus=1@testdata/torchxconfig:12"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, ok := c.Get("kubernetes", "namespace"); ok {
		t.Error("namespace = None: got a value, want none")
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, key, want string }{
		{"no inline comment", "[s]\na = b ; c # d", "a", "b ; c # d"},
		{"first delimiter", "[s]\na = b=c:d", "a", "b=c:d"},
		{"colon", "[s]\na: b=c", "a", "b=c"},
		{"case", "[s]\nA = 1\na = 2", "a", "2"},
		{"percent", "[s]\na = 50%% of 10%, %(x)s", "a", "50% of 10%, %(x)s"},
		{"quotes are kept", "[s]\na = \"b\"", "a", `"b"`},
		{"continued", "[s]\na = 1\n  2\n# no\n\n   3\n\nb = 4", "a", "1\n2\n\n3"},
		{"after continued", "[s]\na = 1\n  2\nb = 4", "b", "4"},
		{"indented keys", "[s]\n  a = 1\n  b = 2", "b", "2"},
		{"empty", "[s]\na =\nb = 1", "a", ""},
		{"crlf and bom", "\uFEFF[s]\r\na = 1\r\n", "a", "1"},
		{"default", "[DEFAULT]\na = 9\n[s]\nb = 1", "a", "9"},
		{"default is weaker", "[s]\na = 1\n[DEFAULT]\na = 9", "a", "1"},
		{"comment after a header", "[s] # x]\na = 1", "a", "1"},
		{"fixme", "[s]\na = #FIXME:(str) x", "a", "#FIXME:(str) x"},
		{"space in key", "[s]\na b = 1", "a b", "1"},
		{"unicode", "[s]\nä = ö", "ä", "ö"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, ok := one(t, tt.text).Get("s", tt.key)
			if !ok || v.Text != tt.want {
				t.Errorf("got %q (%v), want %q", v.Text, ok, tt.want)
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"no ini", "hello world", `f:1: "hello world" is not`},
		{"no section", "a = 1", `f:1: "a = 1" is before the first [section]`},
		{"no value", "[s]\n\nfoo", `f:3: "foo" is not`},
		{"no key", "[s]\n= 1", `f:2: "= 1" has no key`},
		{"twice", "[s]\na=1\n\na=2", "f:4: a is already in line 2 of section [s]"},
		{"section twice", "[s]\n[t]\n[s]", "f:3: section [s] is already in line 1"},
		{"header", "[s", "f:1: \"[s\" is not a section header"},
		{"empty header", "[]", "f:1: \"[]\" is not"},
		{"after header", "[s] x", "is not a section header"},
		{"binary", "[s]\n\xff\xfe", "f:2: not a text file"},
		{"nul", "a\x00b", "f:1: not a text file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse("f", tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q in one line", err, tt.want)
			}
		})
	}
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	home, cwd := t.TempDir(), t.TempDir()
	homeFile := write(t, home, "[local]\na = home\n[DEFAULT]\n[torchx]\nimage = i:1\n")
	cwdFile := write(t, cwd, "[local]\nb = cwd\na = cwd\n[local_cwd]\na = alias\nc = alias\n")
	c, err := Load(Options{LookupEnv: env(map[string]string{"HOME": home}), Cwd: cwd})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Files(); !reflect.DeepEqual(got, []string{homeFile, cwdFile}) {
		t.Errorf("got files %v, want home, then working folder", got)
	}
	var got []string
	for _, v := range c.Backend("local", "local_cwd") {
		got = append(got, v.Key+"="+v.Text)
	}
	if want := "a=home b=cwd c=alias"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if v, ok := c.Image(); !ok || v.Text != "i:1" || v.File != homeFile || v.Line != 5 {
		t.Errorf("image: got %+v, %v, want i:1 of the home's file", v, ok)
	}
	if got := c.Names(); !reflect.DeepEqual(got, []string{"local", "torchx", "local_cwd"}) {
		t.Errorf("got names %v", got)
	}
}

func TestHidden(t *testing.T) {
	t.Parallel()
	home, cwd := t.TempDir(), t.TempDir()
	write(t, home, "[local]\na = home\n[local_cwd]\na = alias\n[DEFAULT]\nd = 1\n")
	write(t, cwd, "[local]\na = cwd\nb = cwd\n[DEFAULT]\nd = 2\n")
	c, err := Load(Options{LookupEnv: env(map[string]string{"HOME": home}), Cwd: cwd})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range c.Hidden("local", "local", "local_cwd") {
		got = append(got, v.Key+"="+v.Text)
	}
	if want := "a=alias a=cwd d=2"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if v := c.Hidden("nothing"); v != nil {
		t.Errorf("got %v, want none", v)
	}
}

func TestLoadSameFolderOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "[s]\na = 1\n")
	c, err := Load(Options{LookupEnv: env(map[string]string{"HOME": dir}), Cwd: dir})
	if err != nil || len(c.Files()) != 1 {
		t.Fatalf("got files %v, %v, want one", c.Files(), err)
	}
}

func TestTorchxconfigVariable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "not ini at all")
	load := func(value string) (*Config, error) {
		return Load(Options{LookupEnv: env(map[string]string{"TORCHXCONFIG": value, "HOME": dir}), Cwd: dir})
	}
	if c, err := load(""); err != nil || len(c.Files()) != 0 {
		t.Errorf("empty TORCHXCONFIG: got %v, %v, want no files", c, err)
	}
	for _, path := range []string{"/nope", dir, "/dev/zero"} {
		want := "TORCHXCONFIG=`" + path + "` does not exist or is not a file"
		if _, err := load(path); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	if _, err := load(FileName); err == nil || !strings.Contains(err.Error(), FileName+":1: ") {
		t.Errorf("relative path: got %v, want a syntax error", err)
	}
	if _, err := Load(Options{LookupEnv: env(nil), Cwd: dir}); err == nil {
		t.Error("an invalid file in the working folder: got nil, want an error")
	}
}

func TestLoadTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, strings.Repeat("#\n", maxSize))
	if _, err := Load(Options{LookupEnv: env(nil), Cwd: dir}); err == nil || !strings.Contains(err.Error(), "is over") {
		t.Error(err)
	}
}

func TestComponentNone(t *testing.T) {
	t.Parallel()
	c := one(t, "[component:a.b]\nx = None\ny = None2\n")
	if got := c.Component("a.b"); !reflect.DeepEqual(got, map[string]string{"y": "None2"}) {
		t.Errorf("got %v, want y alone", got)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	err := Write(&b, []Section{
		{"local", nil},
		{"kubernetes", [][2]string{{"queue", "#FIXME:(str) x"}, {"p", "5%"}, {"e", ""}, {"m", "a\nb"}}},
	})
	want := "[local]\n\n[kubernetes]\nqueue = #FIXME:(str) x\np = 5%%\ne =\nm = a\n\tb\n\n"
	if err != nil || b.String() != want {
		t.Fatalf("got %q, %v\nwant %q", b.String(), err, want)
	}
	c := one(t, b.String())
	if v, _ := c.Get("kubernetes", "p"); v.Text != "5%" {
		t.Errorf("p: got %q, want 5%%", v.Text)
	}
	if v, _ := c.Get("kubernetes", "m"); v.Text != "a\nb" {
		t.Errorf("m: got %q, want both lines", v.Text)
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{"[s]\na = 1\n  2\n", "[DEFAULT]\nx: y\n", "a", "[s]\n\n a\n", "[s] ;\r\n%=%%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &Config{}
		if err := c.addText("f", text); err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("got error %q, want one line with the line number", err)
			}
			return
		}
		lines := strings.Count(text, "\n") + 1
		for _, name := range c.Names() {
			for _, v := range c.Section(name) {
				if v.Key == "" || v.Line < 1 || v.Line > lines {
					t.Fatalf("got value %+v in a file of %d lines", v, lines)
				}
			}
		}
	})
}
