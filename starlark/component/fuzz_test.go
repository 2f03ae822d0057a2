package component

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"torchx/runtime/spec"
)

// FuzzBuild calls main() of a file and checks the result: an app within the limits that survives
// conversion to JSON and back, or an error of one line.
func FuzzBuild(f *testing.F) {
	for _, body := range []string{
		`return specs.AppDef("a", [specs.Role("r", "i", entrypoint="x")])`,
		`return specs.AppDef("a", [specs.Role("r", "i", args=["a"] * 100000)] * 100000)`,
		`return specs.AppDef("a", [specs.Role("r", "i", num_replicas=2147483647, max_retries=1 << 31)])`,
		`return specs.AppDef("a", [specs.Role("r", "i", env={"K": "${app_id}" * 1000000}, port_map={"p": 80})])`,
		`return specs.AppDef("a", [specs.Role("r", "i", metadata={"t": ({"l": [1, 1.5, None, True]},)})], {"k": [[]] * 100000})`,
		`return specs.AppDef("a", [specs.Role("r", "i", mounts=[specs.BindMount("/a", "/b")] * 100000, min_replicas=1)])`,
		`return specs.AppDef("a", [specs.Role("r", "i", resource=specs.Resource(1.5, 1, 2, devices={"d": 1}), workspace="/w")])`,
		`return specs.replace(specs.AppDef("a"), roles=[specs.Role("r%d" % i, "", retry_policy=specs.RetryPolicy.ROLE) for i in range(3)])`,
		`return 3`, `fail("a\nb")`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		text := "def main():\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\n"
		loader := NewLoader(Config{Dir: t.TempDir(), Builtins: fstest.MapFS{"x.star": {Data: []byte(text)}}, Image: "i"})
		found, err := loader.Find(t.Context(), "x.main")
		if err != nil {
			return
		}
		built, err := found.Build(context.Background(), Inputs{})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		checkApp(t, built.App)
	})
}

func checkApp(t *testing.T, app *spec.App) {
	t.Helper()
	if err := app.CheckLimits(); err != nil {
		t.Errorf("got an app despite the error %v", err)
	}
	data, err := json.Marshal(app)
	if err != nil {
		t.Fatalf("the app cannot be written as JSON: %v", err)
	}
	again := &spec.App{}
	if err := json.Unmarshal(data, again); err != nil {
		t.Fatalf("%.1000s cannot be read back: %v", data, err)
	}
	if twice, err := json.Marshal(again); err != nil || !sameJSON(data, twice) {
		t.Errorf("%.1000s is read back as %.1000s, %v", data, twice, err)
	}
	if valid := app.Validate(); (valid == nil) != (again.Validate() == nil) {
		t.Errorf("validation: %v, but after conversion to JSON and back: %v", valid, again.Validate())
	}
	_ = app.CheckPlanLimits(spec.Macros{AppID: "id", ReplicaID: "0"}, 0)
}

// sameJSON compares values: a float may be written in several ways.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
