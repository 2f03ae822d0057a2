package goldens

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recording is a recorded dry run of TorchX. App, Cfg and Request are empty if it failed.
type recording struct {
	Argv     []string          `json:"argv"`
	Cwd      string            `json:"cwd"`
	Env      map[string]string `json:"env"`
	ExitCode json.Number       `json:"exit_code"`
	App      json.RawMessage   `json:"appdef"`
	Cfg      json.RawMessage   `json:"cfg"`
	Request  json.RawMessage   `json:"request"`
}

// recordedID is the random part of app IDs in all recordings.
const recordedID = "bzx310r0jf6nh"

// randomID matches the random part of an app ID: consonants, and digits without 8, not first.
const randomID = `[bcdfghjklmnpqrstvwxz][bcdfghjklmnpqrstvwxz012345679]{0,13}`

// torchxImage is the default image of the built-in components.
const torchxImage = "docker.io/pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"

// messages are expected on stderr, by case.
var messages = map[string][]string{
	"config_default_component": {`unknown option bogus|bogus.*unknown`},
	"custom_gpus_autoset":      {`ignores: image bb:latest\n`},
	"custom_gpus_noauto":       {`auto_set_cuda_visible_devices=true`},
	"custom_multirole":         {`ignores: .*mounts.*capabilities.*devices`},
	"custom_names_leading":     {`error: .*--app`},
	"sh_all_options":           {`error: .*--env.*x`},
	"spmd_mismatch_warn":       {`warning: .*4 .*2 GPUs`},
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/dryrun/*.local_cwd.json")
	must(t, err)
	if len(paths) != 34 {
		t.Errorf("got %d recordings, want 34", len(paths))
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".local_cwd.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			must(t, err)
			var r recording
			must(t, json.Unmarshal(data, &r))
			r.checkAgainst(t, newRewriter(name, differences), messages[name])
		})
	}
}

func (r *recording) checkAgainst(t *testing.T, rewrite *rewriter, messages []string) {
	if r.Cwd != "$CASES" {
		t.Fatalf("got recorded folder %s, want $CASES", r.Cwd)
	}
	s := newSandbox(t)
	o := s.dryrun(t, r.Env, "", r.ourArgv()...)
	want := rewrite.apply(t, "", decode(t, s.fill(r.document())))
	rewrite.checkUsed(t)
	for _, d := range compare("", want, o.document(t), "cfg") {
		t.Error(d)
	}
	for _, m := range messages {
		if !regexp.MustCompile(m).MatchString(o.errors) {
			t.Errorf("stderr does not match %q", m)
		}
	}
}

// ourArgv returns the recorded command line with the Starlark component and JSON output.
func (r *recording) ourArgv() []string {
	argv := slices.Clone(r.Argv)
	for i, a := range argv {
		argv[i] = strings.Replace(a, ".py:", ".star:", 1)
	}
	return slices.Insert(argv, slices.Index(argv, "--dryrun")+1, "--json")
}

// document returns the recorded outcome as one JSON object.
func (r *recording) document() string {
	head := `{"exit_code":` + r.ExitCode.String()
	if r.App == nil {
		return head + "}"
	}
	return head + `,"app":` + string(r.App) + `,"cfg":` + string(r.Cfg) + `,"request":` + string(r.Request) + "}"
}

// document returns the outcome as one JSON object with the ID of the recordings.
func (o outcome) document(t *testing.T) any {
	t.Helper()
	d := object{{"exit_code", json.Number(strconv.Itoa(o.code))}}
	if o.out == "" {
		return d
	}
	printed, ok := decode(t, o.out).(object)
	if !ok {
		t.Fatalf("got stdout %s, want a JSON object", o.out)
	}
	request, _ := printed.get("request").(object)
	app, _ := printed.get("app").(object)
	id, _ := request.get("app_id").(string)
	name, _ := app.get("name").(string)
	// IDs cannot contain slashes and spaces, which separate parts of a handle and words of a line.
	name = strings.NewReplacer("/", "-", " ", "-").Replace(name)
	random, ok := strings.CutPrefix(id, name+"-")
	if !ok || !regexp.MustCompile(`^`+randomID+`$`).MatchString(random) {
		t.Fatalf("got app ID %q of app %q, want the name, a dash and a random ID", id, name)
	}
	// Names of containers have the end of the ID, and random parts differ in length.
	out := strings.ReplaceAll(o.out, hostPart(id)+"-", hostPart(name+"-"+recordedID)+"-")
	members := decode(t, strings.ReplaceAll(out, random, recordedID)).(object)
	members = slices.DeleteFunc(members, func(m member) bool { return m.key == "planned" }) // for submit only
	return append(d, members...)
}

// hostPart returns the part of an app ID that the names of containers have (fact 99).
func hostPart(id string) string { return strings.TrimLeft(id[max(0, len(id)-30):], "-_.") }
