package specmodule

import (
	"reflect"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

func TestParseMountsValues(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"readonly": true, "read_only": true, "readonly=true": true, "readonly=TRUE": true, "readonly=1": true, "read_only=Yes": true,
		"readonly=on": true, "readonly=false": false, "readonly=False": false, "readonly=0": false, "readonly=no": false, "readonly=OFF": false,
	} {
		got, err := ParseMounts([]string{"type=volume", "src=v", "dst=/d", value}, "")
		if err != nil || len(got) != 1 || got[0].ReadOnly != want {
			t.Errorf("%s: %+v, %v, want read-only %t", value, got, err, want)
		}
	}
	for _, key := range []string{"perm", "permissions"} {
		got, err := ParseMounts([]string{"type=device", " src = /dev/x ", key + "=r"}, "")
		want := []spec.Mount{{Type: spec.MountDevice, Src: "/dev/x", Dst: "/dev/x", Permissions: "r"}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", key, got, err, want)
		}
	}
}

func TestParseMountsHome(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ src, home, want string }{
		{"~", "/h", "/h"},
		{"~/a", "/h", "/h/a"},
		{"~/a", "/", "/a"},
		{"~/a", "", "~/a"},
		{"~you/a", "/h", "~you/a"},
		{"/a/~", "/h", "/a/~"},
	} {
		got, err := ParseMounts([]string{"type=bind", "src=" + test.src, "dst=/d"}, test.home)
		if err != nil || len(got) != 1 || got[0].Src != test.want {
			t.Errorf("%s with home %q: %+v, %v, want %s", test.src, test.home, got, err, test.want)
		}
	}
}

func TestParseMountsErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ options, want string }{
		{"src=/a,type=bind", `mount 1: type must be specified first, got "src=/a"`},
		{"type=bind,src=/a", "mount 1 (type=bind): missing dst: add dst=…, the path in the container"},
		{"type=bind,src=/a,dst=", "mount 1 (type=bind): missing dst"},
		{"type=bind,src=/a,dst=/b,type=volume,dst=/c", "mount 2 (type=volume): missing src: add src=…, the path or volume to mount"},
		{"type=bind,src=/a,dst=/b,readonly=maybe", "mount 1 (type=bind): readonly=\"maybe\" is not a bool, use true or false"},
		{"type=bind,src=/a,dst=/b,perm=r", "mount 1 (type=bind): perm is only for devices: use readonly"},
		{"type=device,src=/a,readonly", "mount 1 (type=device): readonly is not for devices: use perm=r"},
		{"type=device,src=/a,perm=", "mount 1 (type=device): permissions are empty: use letters of r, w, m"},
		{"type=bind,sorce=/a", `mount 1: unknown mount option "sorce", must be one of [type, dst, destination, target, src, source, readonly, read_only, perm, permissions]. Did you mean source?`},
		{"type=bind,src=/a,dst=/b,type", `mount 2: invalid mount type ""`},
		{"", `mount 1: unknown mount option ""`},
	}
	for _, test := range tests {
		got, err := ParseMounts(strings.Split(test.options, ","), "/h")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %+v, %v, want %q", test.options, got, err, test.want)
		}
	}
}

// FuzzParseMounts checks that parsed mounts are complete, and that a mount written as options
// parses to the same mount.
func FuzzParseMounts(f *testing.F) {
	for _, s := range []string{
		"type=bind,src=/a,dst=/b,readonly", "type=volume,src=v,dst=/b,readonly=false", "type=device,src=/dev/x,perm=rw",
		"type=bind,source=~/a,target=/b,type=device,src=/dev/y,destination=/dev/z,permissions=m", "src=a", "type", "", "type=bind,src==,dst= ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := ParseMounts(strings.Split(text, ","), "/home/me")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: error of several lines: %v", text, err)
			}
			return
		}
		var again []string
		for _, m := range mounts {
			if m.Src == "" || m.Dst == "" || (m.Type == spec.MountDevice) != (m.Permissions != "") {
				t.Errorf("%q: got %+v, want a src, a dst and permissions for devices only", text, m)
			}
			again = append(again, "type="+string(m.Type), "src="+m.Src, "dst="+m.Dst)
			if m.ReadOnly {
				again = append(again, "readonly")
			}
			if m.Permissions != "" {
				again = append(again, "perm="+m.Permissions)
			}
		}
		if second, err := ParseMounts(again, ""); err != nil || !reflect.DeepEqual(second, mounts) {
			t.Errorf("%q gave %+v, written out again %+v, %v", text, mounts, second, err)
		}
	})
}
