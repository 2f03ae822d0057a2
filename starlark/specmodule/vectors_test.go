package specmodule

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
)

func readJSON(t *testing.T, path string, to any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestNamedResourcesVectors(t *testing.T) {
	t.Parallel()
	var want map[string]spec.Resource
	readJSON(t, "testdata/named_resources.json", &want)
	got := map[string]spec.Resource{}
	for _, r := range NamedResources() {
		got[r.Name] = r.Resource
	}
	if len(want) != 73 || len(got) != len(want) || len(NamedResourceNames()) != len(want) {
		t.Errorf("%d resources, %d names, want %d", len(got), len(NamedResourceNames()), len(want))
	}
	for name, w := range want {
		w.Devices, got[name] = sortDevices(w.Devices), sorted(got[name])
		if !reflect.DeepEqual(got[name], w) {
			t.Errorf("%s: got %+v, want %+v", name, got[name], w)
		}
	}
}

func sorted(r spec.Resource) spec.Resource {
	r.Devices = sortDevices(r.Devices)
	return r
}

func sortDevices(m spec.Map[int]) spec.Map[int] {
	slices.SortFunc(m, func(a, b spec.Entry[int]) int { return strings.Compare(a.Key, b.Key) })
	return m
}

func TestResourceVectors(t *testing.T) {
	t.Parallel()
	var table struct {
		Rows []struct {
			In    []any
			Out   *spec.Resource
			Error string
		}
	}
	readJSON(t, "testdata/resource_fn.json", &table)
	fn := mustEval(t, "specs.resource")
	for _, row := range table.Rows {
		data, err := json.Marshal(row.In)
		if err != nil {
			t.Fatal(err)
		}
		in, err := FromJSON(data)
		if err != nil {
			t.Fatal(err)
		}
		args := slices.Collect(in.(*starlark.List).Elements())
		v, err := starlark.Call(&starlark.Thread{}, fn, args, nil)
		if row.Error != "" {
			if err == nil || !strings.Contains(err.Error(), row.Error) {
				t.Errorf("resource%s: got error %v, want %s", data, err, row.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("resource%s: %v", data, err)
		} else if got := v.(*record).toResource(); !reflect.DeepEqual(got, *row.Out) {
			t.Errorf("resource%s = %+v, want %+v", data, got, *row.Out)
		}
	}
}

// mountError maps errors of TorchX to our message where it differs.
var mountError = map[string]string{
	"src": "missing src", // a bare KeyError in TorchX
	"z is not a valid permission flags must one of r,w,m":                                                                                 "'z' is not a valid permission, must be one of r, w, m",
	"invalid mount type 'nfs', must be one of ['bind', 'volume', 'device']":                                                               `invalid mount type "nfs", must be one of [bind volume device]`,
	"invalid mount type '', must be one of ['bind', 'volume', 'device']":                                                                  `invalid mount type "", must be one of [bind volume device]`,
	"invalid mount type 'BIND', must be one of ['bind', 'volume', 'device']":                                                              `invalid mount type "BIND", must be one of [bind volume device]`,
	"unknown mount option foo, must be one of ['type', 'destination', 'dst', 'target', 'read_only', 'readonly', 'source', 'src', 'perm']": `unknown mount option "foo", must be one of [`,
}

// goldenMount is a mount as encoded in the table.
type goldenMount struct {
	Type        string `json:"_type"`
	Src         string
	SrcPath     string `json:"src_path"`
	DstPath     string `json:"dst_path"`
	ReadOnly    bool   `json:"read_only"`
	Permissions string
}

func (g goldenMount) mount() spec.Mount {
	kinds := map[string]spec.MountType{"BindMount": spec.MountBind, "VolumeMount": spec.MountVolume, "DeviceMount": spec.MountDevice}
	src := strings.ReplaceAll(g.Src+g.SrcPath, "$HOME", "/home/me") // only one of them is set
	return spec.Mount{Type: kinds[g.Type], Src: src, Dst: g.DstPath, ReadOnly: g.ReadOnly, Permissions: g.Permissions}
}

func TestParseMountsVectors(t *testing.T) {
	t.Parallel()
	var table struct {
		Rows []struct {
			In    []string
			Out   []goldenMount
			Error string
		}
	}
	readJSON(t, "testdata/parse_mounts.json", &table)
	if len(table.Rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range table.Rows {
		got, err := ParseMounts(row.In, "/home/me")
		if row.Error != "" {
			want := mountError[row.Error]
			if want == "" || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("ParseMounts(%q): got error %v, want %q for TorchX's %q", row.In, err, want, row.Error)
			}
			continue
		}
		want := []spec.Mount{}
		for _, g := range row.Out {
			want = append(want, g.mount())
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseMounts(%q) = %+v, %v, want %+v", row.In, got, err, want)
		}
	}
}
