package goldens

import (
	"maps"
	"regexp"
	"strconv"
	"testing"
)

// rule is a command line whose outcome follows from a rule of TorchX or of this
// project, not from a recording.
type rule struct {
	name  string
	flags []string          // flags of run; none: the ones of the recordings
	argv  []string          // the component and what belongs to it
	env   map[string]string // beside HOME, PATH and a fixed session
	files map[string]string // in the sandbox, "cases/..." being the working folder
	in    string            // the folder below $CASES to run in
	code  int
	want  map[string]string // path in the document to JSON; "null" also if there is nothing
	stderr  []string          // regular expressions that stderr must match
	quiet bool              // nothing may be said on stderr
}

// sessionID is the one of the recordings.
const sessionID = "00000000-0000-0000-0000-000000000000"

// usualFlags are those of most recordings.
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
			t.Errorf("stderr does not say %q", m)
		}
	}
	if r.quiet && o.errors != "" {
		t.Error("there was nothing to say on stderr")
	}
}

// step is a member or an index in a path such as "app.roles[0].env".
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
				t.Fatalf("no %s of %s in %s", s, path, text(here))
			}
			v = here[i]
		default:
			t.Fatalf("no %s of %s: found %s", s, path, text(v))
		}
	}
	return v
}
