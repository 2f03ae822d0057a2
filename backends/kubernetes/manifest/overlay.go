package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"torchx/runtime/humanize"
	"torchx/runtime/overlay"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

const (
	// overlayKey is the key of an app's or role's metadata that holds overlays.
	overlayKey = "kubernetes"
	// overlayPod is the kind of object that overlays can change.
	overlayPod = "V1Pod"
	// tupleTag marks a list in a file that replaces the list of the pod, as in TorchX.
	tupleTag = "!!python/tuple"
)

// overlayOf returns the part of metadata that holds overlays.
func overlayOf(metadata map[string]any) map[string]any {
	if v, ok := metadata[overlayKey]; ok {
		return map[string]any{overlayKey: v}
	}
	return nil
}

// overlaid applies the overlays to a unit's pod template: the app's, then the role's.
func (b *builder) overlaid(t *Template, u unit, role *spec.Role) (*Template, error) {
	if len(overlayOf(b.in.App.Metadata))+len(overlayOf(role.Metadata)) == 0 {
		return t, nil
	}
	app := b.macros(u).Apply(spec.Role{Metadata: overlayOf(b.in.App.Metadata)})
	main := t.Spec.Containers[0]
	for _, metadata := range []map[string]any{app.Metadata, role.Metadata} {
		value, ok := metadata[overlayKey]
		if !ok || value == nil {
			continue
		}
		change, err := podOverlay(value, b.overlayFile)
		if err == nil {
			t, err = apply(t, b.named(u, change))
		}
		if err != nil {
			return nil, fmt.Errorf("kubernetes overlay of role %s: %w", role.Name, err)
		}
	}
	keepVariables(t, &main)
	if err := checkPod(t); err != nil {
		return nil, fmt.Errorf("kubernetes overlay of role %s: %w", role.Name, err)
	}
	return t, nil
}

// podOverlay returns the pod overlay in a value of metadata, which holds overlays by kind or
// the pod overlay itself. file reads an overlay from a file.
func podOverlay(value any, file func(path string) (map[string]any, error)) (map[string]any, error) {
	kinds, _ := value.(map[string]any)
	if _, pod := kinds[overlayPod]; !pod && kinds[overlay.Marker] != true {
		return composed(value, file)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if kind != overlay.Marker && kind != overlayPod {
			return nil, fmt.Errorf("overlays cannot change a %s, only a %s", kind, overlayPod)
		}
	}
	return composed(kinds[overlayPod], file)
}

// composed returns the overlay in a dict, in a file, or in a list of these.
func composed(value any, file func(path string) (map[string]any, error)) (map[string]any, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		return file(v)
	case map[string]any:
		return v, checkFields(v)
	case []any:
		var all map[string]any
		for _, e := range v {
			next, err := podOverlay(e, file)
			if err == nil {
				all, err = overlay.Compose(all, next)
			}
			if err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return nil, errors.New("metadata must hold a dict, or the path of a file")
}

// overlayFile reads a file once for all replicas. The total size that files add to the plan
// is limited.
func (b *builder) overlayFile(uri string) (map[string]any, error) {
	file, ok := b.overlays[uri]
	if !ok {
		var err error
		if file, err = b.parsedFile(uri); err != nil {
			return nil, err
		}
		if b.overlays == nil {
			b.overlays = map[string]overlayFile{}
		}
		b.overlays[uri] = file
	}
	if b.fromFiles += file.size; b.fromFiles > spec.MaxPlanSize {
		return nil, fmt.Errorf("the plan is too large: %s has %s, and the overlays of all replicas together may have at most %s",
			uri, humanize.RoundBytes(uint64(file.size)), humanize.RoundBytes(spec.MaxPlanSize))
	}
	return file.pod, nil
}

// overlayFile is an overlay from a file of size bytes.
type overlayFile struct {
	pod  map[string]any
	size int
}

// parsedFile reads and parses the overlay in a file.
func (b *builder) parsedFile(uri string) (overlayFile, error) {
	value, path, size, err := readOverlay(uri, b.in.Cwd)
	if err != nil {
		return overlayFile{}, err
	}
	if _, isMap := value.(map[string]any); !isMap {
		return overlayFile{}, fmt.Errorf("%s must hold a mapping with spec or metadata", path)
	}
	pod, err := podOverlay(value, func(string) (map[string]any, error) {
		return nil, errors.New("an overlay file cannot refer to another file")
	})
	if err != nil {
		return overlayFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return overlayFile{pod, size}, nil
}

// checkFields refuses fields of a pod that an overlay cannot change.
func checkFields(pod map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(pod)) {
		switch key {
		case "spec", "metadata", "apiVersion", "kind":
		default:
			return fmt.Errorf("%q is not a field of a pod: write {\"spec\": {...}, \"metadata\": {...}}", key)
		}
	}
	return nil
}

// maxOverlay bounds the bytes of an overlay file: the cluster does not store larger objects,
// and YAML takes a hundred times as much memory.
const maxOverlay = storeLimit

// readOverlay reads a YAML or JSON file at a path or file:// URI, relative to cwd, and returns
// its size in bytes.
func readOverlay(uri, cwd string) (value any, path string, size int, err error) {
	path, _ = strings.CutPrefix(uri, "file://")
	if strings.Contains(path, "://") {
		return nil, "", 0, fmt.Errorf("%q must be the path of a file, or begin with file://", uri)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	data, err := safefile.ReadInput(path, maxOverlay)
	if err != nil {
		return nil, path, 0, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, path, 0, fmt.Errorf("%s: %w", path, oneLine(err))
	}
	if value, err = fromYAML(&doc); err != nil {
		return nil, path, 0, fmt.Errorf("%s: %w", path, err)
	}
	return value, path, len(data), nil
}

// fromYAML converts a document to the values that Starlark would produce.
func fromYAML(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		return fromYAML(n.Content[0])
	case yaml.AliasNode:
		return nil, fmt.Errorf("line %d: aliases are not supported", n.Line)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := fromYAML(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			key := n.Content[i].Value
			m[key] = v
			delete(m, overlay.Replaced(key)) // the later key wins; a map does not keep the order
		}
		return m, nil
	case yaml.SequenceNode:
		list := []any{}
		for _, e := range n.Content {
			v, err := fromYAML(e)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		if n.ShortTag() == tupleTag {
			return spec.Tuple(list), nil
		}
		return list, nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, oneLine(err)
	}
	return v, nil
}

func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
}

// apply changes a pod template. It refuses fields that Kubernetes does not have.
func apply(t *Template, change map[string]any) (*Template, error) {
	given := *t
	keepContainers := !touchesContainers(change)
	if keepContainers { // containers are most of a pod's size, and an app may have thousands of pods
		given.Spec.InitContainers, given.Spec.Containers = nil, nil
	}
	data, err := json.Marshal(&given)
	if err != nil {
		return nil, err
	}
	var base map[string]any
	if err := json.Unmarshal(data, &base); err != nil {
		return nil, err
	}
	change = maps.Clone(change)
	delete(change, "apiVersion") // a file may be a whole manifest
	delete(change, "kind")
	changed, err := overlay.Apply(base, change)
	if err != nil {
		return nil, err
	}
	if data, err = json.Marshal(changed); err != nil {
		return nil, err
	}
	out := &Template{}
	if err := decodeStrict(data, out); err != nil {
		return nil, err
	}
	if keepContainers {
		out.Spec.InitContainers, out.Spec.Containers = t.Spec.InitContainers, t.Spec.Containers
	}
	return out, nil
}

// touchesContainers reports whether an overlay changes containers of any kind. A key may be
// an operation on the field.
func touchesContainers(change map[string]any) bool {
	fields, ok := change["spec"].(map[string]any)
	if !ok {
		return change["spec"] != nil
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(key string) bool {
		return strings.Contains(strings.ToLower(key), "containers")
	})
}
