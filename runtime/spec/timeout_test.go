package spec

import (
	"strings"
	"testing"
	"time"
)

func TestParseTimeout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"2h": 2 * time.Hour, "90": 90 * time.Second, "1d12h": 36 * time.Hour, "500ms": 500 * time.Millisecond, "3650d": MaxTimeout,
	} {
		if got, err := ParseTimeout(text); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "0s", "-5m", "2 h", "99999999h", "abc", "3651d", "1e9", "NaN", "2h\x00", "h", strings.Repeat("9", 5000)} {
		if got, err := ParseTimeout(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestTimeoutOfMetadata(t *testing.T) {
	t.Parallel()
	role := NewRole("a", "")
	role.Entrypoint = "true"
	app := App{Name: "x", Roles: []Role{role}}
	for _, test := range []struct {
		app, role map[string]any
		err       string
	}{
		{map[string]any{"timeout": "2h"}, nil, ""},
		{map[string]any{"timeout": 90}, map[string]any{"timeout": 0.5, "retry_on_timeout": true}, ""},
		{map[string]any{"timeout": 0}, nil, `app x: metadata["torchx"]["timeout"] is "0": write a positive duration`},
		{map[string]any{"timeout": nil}, nil, `["timeout"] is "<nil>"`},
		{map[string]any{"time": "2h"}, nil, `unknown key "time"`},
		{nil, map[string]any{"timeout": "-5m"}, `role a: metadata["torchx"]["timeout"] is "-5m"`},
		{nil, map[string]any{"timeout": []any{1}}, `["timeout"] is "[1]"`},
		{nil, map[string]any{"retry_on_timeout": true}, `["retry_on_timeout"] needs "timeout"`},
		{nil, map[string]any{"timeout": 1, "retry_on_timeout": "yes"}, "want True or False"},
	} {
		a := app.Clone()
		if test.app != nil {
			a.Metadata = map[string]any{OrderKey: test.app}
		}
		if test.role != nil {
			a.Roles[0].Metadata = map[string]any{OrderKey: test.role}
		}
		err := a.Validate()
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%v %v: got %v, want %q", test.app, test.role, err, test.err)
		}
	}
}

// SetTimeout replaces the limit of a component and leaves other metadata and clones alone.
func TestSetTimeout(t *testing.T) {
	t.Parallel()
	a := &App{Metadata: map[string]any{"k": 1, OrderKey: map[string]any{"timeout": "1h", "hidden_env": []any{"A"}}}}
	b := a.Clone()
	b.SetTimeout(90 * time.Minute)
	l, err := b.Limits()
	if err != nil || l.Timeout != 90*time.Minute || len(l.SecretEnv) != 1 || b.Metadata["k"] != 1 {
		t.Errorf("got %+v, %v, %v", l, err, b.Metadata)
	}
	if l, err = a.Limits(); err != nil || l.Timeout != time.Hour {
		t.Errorf("the original: got %+v, %v", l, err)
	}
}
