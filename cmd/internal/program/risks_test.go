package program

import (
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/config"
)

func TestSectionsDeclareRisks(t *testing.T) {
	t.Parallel()
	for name, options := range Sections {
		if err := backend.CheckOptions(options); err != nil {
			t.Errorf("[%s]: %v", name, err)
		}
	}
}

func TestRisky(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/" + config.FileName
	option := func(section, key string) backend.Option {
		for _, o := range Sections[section] {
			if o.Key == key {
				return o
			}
		}
		t.Fatalf("[%s] has no option %s", section, key)
		return backend.Option{}
	}
	for _, test := range []struct {
		section, key, text string
		want               bool
	}{
		{"torchx", "image", "x", true},
		{"torchx", "image", "None", false},
		{"torchx", "image", "", false},
		{"torchx", "tags", "a=b", false},
		{"torchx", "on_end", "true", true},
		{"cli:run", "workspace", ".", false},
		{"cli:run", "workspace", "sub/folder", false},
		{"cli:run", "workspace", "file://.", false},
		{"cli:run", "workspace", "/etc", true},
		{"cli:run", "workspace", "file:///etc", true},
		{"cli:run", "workspace", "..", true},
		{"cli:run", "workspace", "~", true},
		{"cli:run", "workspace", `{"\x2fetc": x}`, true},
		{"component", "env", "A=1,B=2", false},
		{"component", "env", "A=1,LD_PRELOAD=./x.so", true},
		{"component", "env", `{"PYTHONPATH": "lib"}`, true},
		{"component", "env", "MY_PATH=x,PYTHONUNBUFFERED=1,ENV=prod", false},
		{"component", "mounts", "type=bind,src=/,dst=/host", true},
	} {
		v := config.Value{Key: test.key, Text: test.text, File: file}
		if _, got := newSetting(option(test.section, test.key), v); got != test.want {
			t.Errorf("[%s] %s = %s: got %v, want %v", test.section, test.key, test.text, got, test.want)
		}
	}
}
