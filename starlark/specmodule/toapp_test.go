package specmodule

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/spec"
)

// TestToAppGoldens evaluates TorchX's own test components and compares the apps with those of TorchX
// (without the variables that its runner adds).
func TestToAppGoldens(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/comps/appdefs.json")
	if err != nil {
		t.Fatal(err)
	}
	var goldens map[string]any
	if err := json.Unmarshal(data, &goldens); err != nil || len(goldens) == 0 {
		t.Fatalf("%d goldens, %v", len(goldens), err)
	}
	thread := &starlark.Thread{Name: "comps"}
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, thread, "testdata/comps/comps.star", nil, Predeclared(testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	globals.Freeze()
	for call, want := range goldens {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{Name: call}, "call.star", call, globals)
			if err != nil {
				t.Fatal(err)
			}
			app, err := ToApp(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := app.Validate(); err != nil {
				t.Error(err)
			}
			if got := viaJSON(t, app); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			if got := viaJSON(t, v); !reflect.DeepEqual(got, want) {
				t.Errorf("the value itself encodes as %v\nwant %v", got, want)
			}
		})
	}
}

func viaJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestToAppKeepsOrderAndTypes(t *testing.T) {
	t.Parallel()
	app, err := ToApp(mustEval(t, `specs.AppDef("a", [specs.Role("w", "i",
		env = {"Z": "1", "A": "2"}, port_map = {"z": 1, "a": 2},
		resource = specs.Resource(1, 0, 2, devices = {"z": 1, "a": 2}), workspace = "/src",
		metadata = {"t": ({"l": [1]},), "f": 1.0, "i": 1, "n": None})])`))
	if err != nil {
		t.Fatal(err)
	}
	r := app.Roles[0]
	if want := (spec.Map[string]{{Key: "Z", Value: "1"}, {Key: "A", Value: "2"}}); !reflect.DeepEqual(r.Env, want) {
		t.Errorf("env %v, want %v", r.Env, want)
	}
	want := spec.Map[int]{{Key: "z", Value: 1}, {Key: "a", Value: 2}}
	if !reflect.DeepEqual(r.PortMap, want) || !reflect.DeepEqual(r.Resource.Devices, want) {
		t.Errorf("ports %v, devices %v, want %v", r.PortMap, r.Resource.Devices, want)
	}
	meta := map[string]any{"t": spec.Tuple{map[string]any{"l": []any{1}}}, "f": 1.0, "i": 1, "n": nil}
	if !reflect.DeepEqual(r.Metadata, meta) {
		t.Errorf("metadata %#v, want %#v", r.Metadata, meta)
	}
	if r.Workspace == nil || len(r.Workspace.Projects) != 1 || r.Workspace.Projects[0].Key != "/src" {
		t.Errorf("got workspace %+v, want one project /src", r.Workspace)
	}
}

func TestToAppRefuses(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		`"not an app"`:           "component returned string, want specs.AppDef",
		`None`:                   "returned None: add `return specs.AppDef(…)`",
		`specs.Role("w", "i")`:   "component returned specs.Role, want specs.AppDef",
		`[specs.AppDef("a")]`:    "component returned list, want specs.AppDef",
		`struct(name = "x")`:     "component returned struct, want specs.AppDef",
		`specs.AppDef`:           "component returned builtin_function_or_method, want specs.AppDef",
		`specs.Resource(1,1,1)`:  "component returned specs.Resource, want specs.AppDef",
		`specs.named_resources`:  "component returned specs.named_resources, want specs.AppDef",
		`lambda: specs.AppDef()`: "component returned function, want specs.AppDef",
	} {
		if app, err := ToApp(mustEval(t, expr)); err == nil || err.Error() != want {
			t.Errorf("ToApp(%s) = %v, %v, want %q", expr, app, err, want)
		}
	}
}

// preProcApp returns the only role of an app whose pre_proc is the expression fn.
func preProcApp(t *testing.T, o Options, fn string) spec.Role {
	t.Helper()
	v, err := eval(t, o, `specs.AppDef("a", [specs.replace(specs.Role("w", "i", pre_proc = `+fn+`), entrypoint = "x")])`)
	if err != nil {
		t.Fatal(err)
	}
	app, err := ToApp(v)
	if err != nil {
		t.Fatal(err)
	}
	return app.Roles[0]
}

func TestPreProc(t *testing.T) {
	t.Parallel()
	role := preProcApp(t, testOptions(), `lambda backend, request: request | {"backend": backend, "n": request["n"] + 1}`)
	got, err := role.PreProc("kubernetes", []byte(`{"z":{"b":1,"a":[1.5,null,true]},"n":9007199254740993,"s":"<&é"}`))
	want := `{"z":{"b":1,"a":[1.5,null,true]},"n":9007199254740994,"s":"<&é","backend":"kubernetes"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := preProcApp(t, testOptions(), `lambda b, r: r["l"].append(b) or r`).PreProc("x", []byte(`{"l":[]}`)); err != nil || string(got) != `{"l":["x"]}` {
		t.Errorf("the request cannot be changed in place: %s, %v", got, err)
	}
	if role := preProcApp(t, testOptions(), "None"); role.PreProc != nil {
		t.Error("got PreProc for a role without pre_proc, want nil")
	}
}

func TestPreProcErrors(t *testing.T) {
	t.Parallel()
	for fn, want := range map[string]string{
		`lambda b, r: None`:                `lambda returned NoneType, want the changed request (dict)`,
		`lambda b, r: [r]`:                 `returned list, want the changed request (dict)`,
		`lambda b, r: fail("no")`:          `fail: no`,
		`lambda b, r: {1: 2}`:              `encode JSON: dict has int key 1, want string`,
		`lambda b, r: {"a": len}`:          `in "a": builtin_function_or_method has no JSON form`,
		`lambda r: r`:                      `accepts 1 positional argument`,
		`lambda b, r: {"a": float("inf")}`: `has no JSON form`,
	} {
		if got, err := preProcApp(t, testOptions(), fn).PreProc("local", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v, want %q", fn, got, err, want)
		}
	}
	if _, err := preProcApp(t, testOptions(), `lambda b, r: r`).PreProc("local", []byte(`{`)); err == nil {
		t.Error("a broken request was accepted")
	}
}

func TestPreProcRunsThroughCall(t *testing.T) {
	t.Parallel()
	limit := errors.New("too many steps")
	o := testOptions()
	o.Call = func(starlark.Callable, starlark.Tuple) (starlark.Value, error) { return nil, limit }
	if _, err := preProcApp(t, o, `lambda b, r: r`).PreProc("local", []byte(`{}`)); !errors.Is(err, limit) {
		t.Errorf("got %v, want the error of Options.Call", err)
	}
}

func TestGetenvIsRecorded(t *testing.T) {
	t.Parallel()
	var seen []string
	o := testOptions()
	o.OnGetenv = func(name, value string) { seen = append(seen, name+"="+value) }
	if _, err := eval(t, o, `[torchx.getenv("HOME"), torchx.getenv("NOPE", "x"), torchx.getenv("EMPTY")]`); err != nil {
		t.Fatal(err)
	}
	if want := []string{"HOME=/home/me", "EMPTY="}; !slices.Equal(seen, want) {
		t.Errorf("recorded %q, want %q", seen, want)
	}
}

// TestZeroOptions checks that all options can be left out.
func TestZeroOptions(t *testing.T) {
	t.Parallel()
	v, err := eval(t, Options{}, `[torchx.getenv("HOME"), torchx.IMAGE, specs.parse_mounts("type=bind,src=~/a,dst=/b")[0].src_path]`)
	if err != nil || v.String() != `[None, "", "~/a"]` {
		t.Errorf("got %v, %v, want [None, \"\", \"~/a\"]", v, err)
	}
	if got, err := preProcApp(t, Options{}, `lambda b, r: r`).PreProc("local", []byte(`[1]`)); err != nil || string(got) != "[1]" {
		t.Errorf("got %s, %v, want [1]", got, err)
	}
}
