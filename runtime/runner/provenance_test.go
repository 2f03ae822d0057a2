package runner

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
)

func TestModuleChanges(t *testing.T) {
	t.Parallel()
	then := []Module{
		{"//a.star", "/p/a.star", "1"},
		{"//b.star", "/p/b.star", "1"},
		{"//c.star", "/p/c.star", "1"},
		{"//d.star", "/p/d.star", "1"},
		{"@torchx//x.star", "", "1"},
	}
	now := []Module{
		{"//a.star", "/p/a.star", "1"},
		{"//b.star", "/p/b.star", "2"},
		{"//c.star", "/p/c.star", ""},
		{"@torchx//x.star", "", "2"},
		{"//e.star", "/other/e.star", "1"},
	}
	want := []string{"b.star", "c.star (gone)", "d.star (not used any more)", "@torchx//x.star", "/other/e.star (new)"}
	got := ModuleChanges(then, now, "/p")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := ModulesRoot(then); got != "/p" {
		t.Errorf("got root %q, want /p", got)
	}
}

func TestReadModules(t *testing.T) {
	t.Parallel()
	got := ReadModules([]Module{{"//a", "/a", "1"}, {"//b", "/b", "1"}}, func(m Module) ([]byte, error) {
		if m.Path == "/b" {
			return nil, errors.New("gone")
		}
		return nil, nil
	})
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if want := []Module{{"//a", "/a", empty}, {"//b", "/b", ""}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEnvChanges(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(EnvChanges(map[string]string{"A": "1", "B": "1", "C": "1"}, map[string]string{"A": "1", "B": "2", "D": "3"}))
	if want := `[{"Name":"B","Was":"1","Now":"2"},{"Name":"C","Was":"1","Now":null},{"Name":"D","Was":null,"Now":"3"}]`; err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
