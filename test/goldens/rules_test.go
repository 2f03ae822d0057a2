package goldens

import (
	"maps"
	"regexp"
	"strconv"
	"testing"
)

// rule is a command line whose outcome is a rule of TorchX or of this project instead of a
// recording.
type rule struct {
	name   string
	flags  []string          // flags of run; nil: usualFlags
	argv   []string          // the component and its arguments
	env    map[string]string // in addition to HOME, PATH and a fixed session
	files  map[string]string // in the sandbox; "cases/..." is the working folder
	in     string            // working folder below $CASES
	code   int
	want   map[string]string // JSON by path in the document; "null" also matches a missing member
	stderr []string          // regular expressions that stderr must match
	quiet  bool              // stderr must be empty
}

// sessionID is the session ID of the recordings.
const sessionID = "00000000-0000-0000-0000-000000000000"

// usualFlags are the flags of most recordings.
var usualFlags = []string{"-s", "local_cwd", "-cfg", "log_dir=$LOGS", "--workspace="}

func checkRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t)
		})
	}
}

func (r rule) check(t *testing.T) {
	s := newSandbox(t)
	for name, text := range r.files {
		s.write(t, name, s.fill(text))
	}
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "$HOME", "TORCHX_INTERNAL_SESSION_ID": sessionID}
	maps.Copy(env, r.env)
	argv := append([]string{"run"}, usualFlags...)
	if r.flags != nil {
		argv = append([]string{"run"}, r.flags...)
	}
	argv = append(argv, "--dryrun", "--json")
	o := s.dryrun(t, env, r.in, append(argv, r.argv...)...)
	if o.code != r.code {
		t.Fatalf("exit code %d, want %d", o.code, r.code)
	}
	document := o.document(t)
	for path, want := range r.want {
		for _, d := range compare(path, decode(t, s.fill(want)), at(t, document, path)) {
			t.Error(d)
		}
	}
	for _, m := range r.stderr {
		if !regexp.MustCompile(m).MatchString(o.errors) {
			t.Errorf("stderr does not match %q", m)
		}
	}
	if r.quiet && o.errors != "" {
		t.Error("want an empty stderr")
	}
}

// step matches a member or an index in a path such as "app.roles[0].env".
var step = regexp.MustCompile(`[^.\[\]]+|\[\d+]`)

// at returns the value at a path.
func at(t *testing.T, v any, path string) any {
	t.Helper()
	for _, s := range step.FindAllString(path, -1) {
		switch here := v.(type) {
		case object:
			v = here.get(s)
		case []any:
			i, err := strconv.Atoi(s[1 : len(s)-1])
			if err != nil || i >= len(here) {
				t.Fatalf("got %s, want %s of %s", text(here), s, path)
			}
			v = here[i]
		default:
			t.Fatalf("got %s, want %s of %s", text(v), s, path)
		}
	}
	return v
}
