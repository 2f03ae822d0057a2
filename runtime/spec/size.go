package spec

// part is the size of one field of a role.
type part struct {
	name string
	size int
}

func (p part) String() string { return p.name + ": " + roundBytes(p.size) }

// sizes measures the fields of a role. expand returns the length of a text with macros.
func (r *Role) sizes(expand func(string) int) []part {
	args := 0
	for _, a := range r.Args {
		args += itemSize + expand(a)
	}
	return []part{
		{"name, image and entrypoint", len(r.Name) + len(r.Image) + len(r.Entrypoint)},
		{"args", args},
		{"env", mapSize(r.Env, expand)},
		{"metadata", valueSize(r.Metadata, expand)},
		{"mounts", mountsSize(r.Mounts)},
		{"port_map", mapSize(r.PortMap, intSize)},
		{"resource", mapSize(r.Resource.Devices, intSize) + valueSize(r.Resource.Capabilities, textLen) + valueSize(r.Resource.Tags, textLen)},
		{"workspace", mapSize(r.projects(), textLen)},
	}
}

func (r *Role) projects() Map[string] {
	if r.Workspace == nil {
		return nil
	}
	return r.Workspace.Projects
}

func mapSize[V any](m Map[V], size func(V) int) (n int) {
	for _, e := range m {
		n += itemSize + len(e.Key) + size(e.Value)
	}
	return n
}

func mountsSize(mounts []Mount) (n int) {
	for _, m := range mounts {
		n += 4*itemSize + len(m.Src) + len(m.Dst) + len(m.Permissions)
	}
	return n
}

// valueSize measures a value of metadata.
func valueSize(v any, expand func(string) int) (n int) {
	switch v := v.(type) {
	case string:
		return expand(v)
	case map[string]any:
		for k, e := range v {
			n += itemSize + len(k) + valueSize(e, expand)
		}
	case []any:
		for _, e := range v {
			n += itemSize + valueSize(e, expand)
		}
	case Tuple:
		return valueSize([]any(v), expand)
	}
	return n
}

// sum adds up parts and returns the largest.
func sum(parts []part) (n int, largest part) {
	for _, p := range parts {
		n += p.size
		if p.size > largest.size {
			largest = p
		}
	}
	return n, largest
}

func textLen(text string) int { return len(text) }

func intSize(int) int { return itemSize }
