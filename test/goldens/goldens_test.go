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

// recording is a dry run of TorchX. App, Cfg and Request are missing if it failed.
type recording struct {
	Argv     []string          `json:"argv"`
	Cwd      string            `json:"cwd"`
	Env      map[string]string `json:"env"`
	ExitCode json.Number       `json:"exit_code"`
	App      json.RawMessage   `json:"appdef"`
	Cfg      json.RawMessage   `json:"cfg"`
	Request  json.RawMessage   `json:"request"`
}

// recordedID is the random part of app ids in all recordings.
const recordedID = "bzx310r0jf6nh"

// randomID is a random part by the rule: consonants, digits without 8, not a digit first.
const randomID = `[bcdfghjklmnpqrstvwxz][bcdfghjklmnpqrstvwxz012345679]{0,13}`

// torchxImage is the default image of the built-in components.
const torchxImage = "docker.io/pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"

// messages are what must be said on stderr in some of the cases.
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
		t.Errorf("%d recordings, want 34", len(paths))
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
		t.Fatalf("recorded in %s", r.Cwd)
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
			t.Errorf("stderr does not say %q", m)
		}
	}
}

// ourArgv is the recorded command line with our name of the component and with JSON out.
func (r *recording) ourArgv() []string {
	argv := slices.Clone(r.Argv)
	for i, a := range argv {
		argv[i] = strings.Replace(a, ".py:", ".star:", 1)
	}
	return slices.Insert(argv, slices.Index(argv, "--dryrun")+1, "--json")
}

// document is all of the outcome as one JSON object.
func (r *recording) document() string {
	head := `{"exit_code":` + r.ExitCode.String()
	if r.App == nil {
		return head + "}"
	}
	return head + `,"app":` + string(r.App) + `,"cfg":` + string(r.Cfg) + `,"request":` + string(r.Request) + "}"
}

// document is all of the outcome as one JSON object with the id of the recordings.
func (o outcome) document(t *testing.T) any {
	t.Helper()
	d := object{{"exit_code", json.Number(strconv.Itoa(o.code))}}
	if o.out == "" {
		return d
	}
	printed, ok := decode(t, o.out).(object)
	if !ok {
		t.Fatalf("stdout is no JSON object: %s", o.out)
	}
	request, _ := printed.get("request").(object)
	app, _ := printed.get("app").(object)
	id, _ := request.get("app_id").(string)
	name, _ := app.get("name").(string)
	// A slash would end the session in a handle, and a space the handle in a line.
	name = strings.NewReplacer("/", "-", " ", "-").Replace(name)
	random, ok := strings.CutPrefix(id, name+"-")
	if !ok || !regexp.MustCompile(`^`+randomID+`$`).MatchString(random) {
		t.Fatalf("app id %q of an app with the name %q, want the name, a dash and a random id", id, name)
	}
	// Containers have the end of the id in their names; random parts differ in length.
	out := strings.ReplaceAll(o.out, hostPart(id)+"-", hostPart(name+"-"+recordedID)+"-")
	return append(d, decode(t, strings.ReplaceAll(out, random, recordedID)).(object)...)
}

// hostPart is what of an app id stands in the names of containers (fact 99).
func hostPart(id string) string { return strings.TrimLeft(id[max(0, len(id)-30):], "-_.") }
