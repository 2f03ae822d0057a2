package specmodule

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/runtime/spec"
)

// defaultPermissions of a device mount are read, write, and make nodes.
const defaultPermissions = "rwm"

// mountTypes are in the order of messages, which is the order of the kinds from kindBind on.
var mountTypes = []spec.MountType{spec.MountBind, spec.MountVolume, spec.MountDevice}

// mountKeys maps the keys of mount options to their canonical forms, in the order of messages.
var mountKeys = [][2]string{
	{"type", "type"},
	{"dst", "dst"},
	{"destination", "dst"},
	{"target", "dst"},
	{"src", "src"},
	{"source", "src"},
	{"readonly", "readonly"},
	{"read_only", "readonly"},
	{"perm", "perm"},
	{"permissions", "perm"},
}

// mountOptions are the options of one mount by canonical key.
type mountOptions map[string]string

// ParseMounts parses options such as "type=bind", "src=/a", "dst=/b", "readonly". Each "type"
// begins a mount; the last value of a repeated key wins. A leading `~` of a bind source is
// replaced by home, unless home is "". Errors contain the number and type of the mount.
func ParseMounts(options []string, home string) ([]spec.Mount, error) {
	var all []mountOptions
	for _, option := range options {
		key, value, err := splitMountOption(option)
		if err != nil {
			return nil, fmt.Errorf("mount %d: %w", max(len(all), 1), err)
		}
		if key == "type" {
			all = append(all, mountOptions{})
			if !slices.Contains(mountTypes, spec.MountType(value)) {
				return nil, fmt.Errorf("mount %d: invalid mount type %.100q, must be one of %s",
					len(all), value, mountTypes)
			}
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("mount 1: type must be specified first, got %.100q", option)
		}
		all[len(all)-1][key] = value
	}
	mounts := make([]spec.Mount, 0, len(all))
	for i, o := range all {
		m, err := o.mount(home)
		if err != nil {
			return nil, fmt.Errorf("mount %d (type=%s): %w", i+1, o["type"], err)
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// splitMountOption returns the canonical key and the value of one option.
func splitMountOption(option string) (key, value string, err error) {
	name, value, hasValue := strings.Cut(strings.TrimSpace(option), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	var names []string
	for _, k := range mountKeys {
		if names = append(names, k[0]); k[0] == name {
			key = k[1]
		}
	}
	if key == "" {
		return "", "", fmt.Errorf("unknown mount option %.100q, must be one of [%s].%s",
			name, strings.Join(names, ", "), humanize.Hint(name, names))
	}
	if key == "readonly" && !hasValue {
		value = "true"
	}
	return key, value, nil
}

// mount checks the options of a mount of a valid type and adds defaults.
func (o mountOptions) mount(home string) (spec.Mount, error) {
	m := spec.Mount{Type: spec.MountType(o["type"]), Src: o["src"], Dst: o["dst"]}
	if m.Src == "" {
		return m, fmt.Errorf("missing src: add src=…, the path or volume to mount")
	}
	if m.Type == spec.MountDevice {
		return m, o.device(&m)
	}
	if m.Dst == "" {
		return m, fmt.Errorf("missing dst: add dst=…, the path in the container")
	}
	if _, ok := o["perm"]; ok {
		return m, fmt.Errorf("perm is only for devices: use readonly")
	}
	if m.Type == spec.MountBind {
		m.Src = expandHome(m.Src, home)
	}
	var err error
	m.ReadOnly, err = parseBool(o["readonly"])
	return m, err
}

// device sets the fields of device mounts. dst defaults to src.
func (o mountOptions) device(m *spec.Mount) error {
	if _, ok := o["readonly"]; ok {
		return fmt.Errorf("readonly is not for devices: use perm=r")
	}
	if m.Dst == "" {
		m.Dst = m.Src
	}
	m.Permissions = defaultPermissions
	if perm, ok := o["perm"]; ok {
		m.Permissions = perm
	}
	return validPermissions(m.Permissions)
}

func validPermissions(s string) error {
	for _, letter := range s {
		if !strings.ContainsRune(defaultPermissions, letter) {
			return fmt.Errorf("%q is not a valid permission, must be one of r, w, m", letter)
		}
	}
	if s == "" {
		return fmt.Errorf("permissions are empty: use letters of r, w, m")
	}
	return nil
}

// parseBool parses the value of readonly; "" means false.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off", "":
		return false, nil
	}
	return false, fmt.Errorf("readonly=%.100q is not a bool, use true or false", s)
}

// expandHome replaces a leading `~` or `~/`, but not `~user`.
func expandHome(path, home string) string {
	if home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		return strings.TrimRight(home, "/") + path[1:]
	}
	return path
}

// parseMounts is specs.parse_mounts(opts), where opts is a list, a string with commas, or None.
func (o Options) parseMounts(c call) (starlark.Value, error) {
	var opts starlark.Value = starlark.None
	if err := c.unpack("opts", &opts); err != nil {
		return nil, err
	}
	options, err := mountOptionList(opts)
	if err != nil {
		return nil, err
	}
	home := ""
	if o.ExpandUser != nil {
		home = o.ExpandUser()
	}
	mounts, err := ParseMounts(options, home)
	if err != nil {
		return nil, err
	}
	values := make([]starlark.Value, len(mounts))
	for i, m := range mounts {
		values[i] = mountRecord(m)
	}
	return starlark.NewList(values), nil
}

// mountOptionList returns the list, or the non-empty parts of a string separated by commas.
func mountOptionList(v starlark.Value) ([]string, error) {
	if v == starlark.None {
		return nil, nil
	}
	var options []string
	if text, ok := v.(starlark.String); ok {
		for part := range strings.SplitSeq(string(text), ",") {
			if strings.TrimSpace(part) != "" {
				options = append(options, part)
			}
		}
		return options, nil
	}
	return goStrings("opts", v)
}
