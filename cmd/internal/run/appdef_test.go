package run

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"torchx/docs"
	"torchx/runtime/spec"
)

// library compiles docs/schema/app.json with a library.
func library(t *testing.T) *jsonschema.Schema {
	t.Helper()
	const base = "https://torchx.invalid/" // a path may have a space
	c := jsonschema.NewCompiler()
	for _, file := range []string{"common.json", "app.json"} {
		text, err := docs.Files.ReadFile("schema/" + file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(base+file, doc); err != nil {
			t.Fatal(err)
		}
	}
	return c.MustCompile(base + "app.json")
}

// one returns an app with one role that has more fields.
func one(fields string) string {
	return `{"app": {"name": "a", "roles": [{"name": "r", "entrypoint": "true"` + fields + `}]}}`
}

// TestCheckAppFile: errors name the path, and the verdict is that of a JSON Schema library.
func TestCheckAppFile(t *testing.T) {
	t.Parallel()
	theirs := library(t)
	for text, want := range map[string]string{
		one(""):                                   "",
		one(`, "num_replicas": 3, "args": []`):    "",
		one(`, "min_replicas": null`):             "",
		one(`, "workspace": null`):                "",
		one(`, "resource": {"cpu": 0.5}`):         "",
		one(`, "resource": {"cpu": -1}`):          "",
		one(`, "metadata": {"k": [1, {"x": 2}]}`): "",
		one(`, "mounts": [{"kind": "BindMount", "src_path": "/a", "dst_path": "/b"}]`):   "",
		one(`, "mounts": [{"kind": "DeviceMount", "src_path": "/a", "dst_path": "/b"}]`): "",
		`{}`:                     "app: is missing",
		`{"app": null}`:          "app: must be an object, got null",
		`{"app": []}`:            "app: must be an object, got an array",
		`{"app": {}}`:            "app.name: is missing",
		`{"app": {"name": "a"}}`: "app.roles: is missing",
		`{"ap": {}, "app": {"name": "a", "roles": []}}`:                                      "ap: unknown field. Did you mean app?",
		`{"app": {"name": "", "roles": [{}]}}`:                                               "app.name: must not be empty",
		`{"app": {"name": 1, "roles": [{}]}}`:                                                "app.name: must be a string, got 1",
		`{"app": {"name": "a", "roles": []}}`:                                                "app.roles: must not be empty",
		`{"app": {"name": "a", "roles": [{}]}}`:                                              "app.roles[0].name: is missing",
		`{"app": {"name": "a", "roles": [{"name": "r", "entrypoint": "x"}, {"name": "s"}]}}`: "app.roles[1].entrypoint: is missing",
		one(`, "num_replicas": 0`):                                                           "app.roles[0].num_replicas: must be at least 1, got 0",
		one(`, "num_replicas": "2"`):                                                         `app.roles[0].num_replicas: must be an integer, got "2"`,
		one(`, "num_replicas": 1.5`):                                                         "app.roles[0].num_replicas: must be an integer, got 1.5",
		one(`, "num_replicas": 100001`):                                                      "app.roles[0].num_replicas: must be at most 100000, got 100001",
		one(`, "num_replicas": true`):                                                        "app.roles[0].num_replicas: must be an integer, got true",
		one(`, "num_replica": 1`):                                                            "app.roles[0].num_replica: unknown field. Did you mean num_replicas?",
		one(`, "args": "x"`):                                                                 `app.roles[0].args: must be an array, got "x"`,
		one(`, "args": ["x", 1]`):                                                            "app.roles[0].args[1]: must be a string, got 1",
		one(`, "args": null`):                                                                "app.roles[0].args: must be an array, got null",
		one(`, "env": {"A": 1}`):                                                             "app.roles[0].env.A: must be a string, got 1",
		one(`, "env": {"A B": null}`):                                                        `app.roles[0].env["A B"]: must be a string, got null`,
		one(`, "retry_policy": "NEVER"`):                                                     `app.roles[0].retry_policy: must be one of REPLICA, ROLE, APPLICATION, got "NEVER"`,
		one(`, "max_retries": -1`):                                                           "app.roles[0].max_retries: must be at least 0, got -1",
		one(`, "port_map": {"p": 70000}`):                                                    "app.roles[0].port_map.p: must be at most 65535, got 70000",
		one(`, "resource": {"mem": 1}`):                                                      "app.roles[0].resource.mem: unknown field. Did you mean memMB?",
		one(`, "resource": {"gpu": {}}`):                                                     "app.roles[0].resource.gpu: must be an integer, got an object",
		one(`, "workspace": {}`):                                                             "app.roles[0].workspace.projects: is missing",
		one(`, "workspace": "."`):                                                            `app.roles[0].workspace: must be an object or null, got "."`,
		one(`, "mounts": ["/a"]`):                                                            "app.roles[0].mounts[0]: must be an object, got \"/a\"",
		one(`, "mounts": [{}]`):                                                              "app.roles[0].mounts[0].kind: is missing: one of BindMount, VolumeMount, DeviceMount",
		one(`, "mounts": [{"kind": "NFS"}]`):                                                 `app.roles[0].mounts[0].kind: must be one of BindMount, VolumeMount, DeviceMount, got "NFS"`,
		one(`, "mounts": [{"kind": "VolumeMount"}]`):                                         "app.roles[0].mounts[0].src: is missing",
	} {
		err := checkAppFile([]byte(text))
		if got := message(err); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		v, _ := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if other := theirs.Validate(v); (other == nil) != (err == nil) {
			t.Errorf("%s: got %v, a library has %v", text, err, other)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCheckAppFileSyntax(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                "it is empty",
		`{"app": `:        "line 1",
		"{\n\"app\": x}":  "line 2",
		one("") + one(""): "after top-level value",
		`[]`:              `must be an object like {"app": …}, got an array`,
	} {
		if got := message(checkAppFile([]byte(text))); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestParseAppFile: what is missing has the default that the schema names.
func TestParseAppFile(t *testing.T) {
	t.Parallel()
	in, err := parseAppFile([]byte(one(`, "env": {"B": "1", "A": "2"}, "resource": {"gpu": 1},
		"mounts": [{"kind": "DeviceMount", "src_path": "/dev/x", "dst_path": "/dev/y"}]`)))
	if err != nil {
		t.Fatal(err)
	}
	want := spec.NewRole("r", "")
	want.Entrypoint = "true"
	want.Env = spec.Map[string]{{Key: "B", Value: "1"}, {Key: "A", Value: "2"}}
	want.Resource.GPU = 1
	want.Mounts = []spec.Mount{{Type: spec.MountDevice, Src: "/dev/x", Dst: "/dev/y", Permissions: "rwm"}}
	if got := in.App.Roles[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestAppSchemaDefaults: the defaults of the schema are those of spec.NewRole.
func TestAppSchemaDefaults(t *testing.T) {
	t.Parallel()
	text, err := docs.Files.ReadFile("schema/app.json")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Defs map[string]struct {
			Properties map[string]struct{ Default json.RawMessage }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	role := spec.NewRole("r", "")
	for name, v := range map[string]any{"submitted-role": role, "submitted-resource": role.Resource} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		for key, value := range fields {
			want, known := s.Defs[name].Properties[key]
			if !known {
				t.Errorf("the schema of a %s has no %s", name, key)
			}
			if len(want.Default) > 0 && key != "resource" && string(want.Default) != string(value) {
				t.Errorf("%s of a %s: the schema has %s, the program %s", key, name, want.Default, value)
			}
		}
	}
}
