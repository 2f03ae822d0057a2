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

	"torchx/runtime/overlay"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

const (
	// overlayKey is the key of an app's or role's metadata that holds overlays.
	overlayKey = "kubernetes"
	// overlayPod is the kind of object that overlays can change.
	overlayPod = "V1Pod"
	// tupleTag marks a list in a file that replaces another list, as in TorchX.
	tupleTag = "!!python/tuple"
)

// overlayOf returns the part of metadata that holds overlays.
func overlayOf(metadata map[string]any) map[string]any {
	if v, ok := metadata[overlayKey]; ok {
		return map[string]any{overlayKey: v}
	}
	return nil
}

// overlaid applies the overlays to a pod template: the app's, then the role's.
func (b *builder) overlaid(t *Template, m spec.Macros, role *spec.Role) (*Template, error) {
	if len(overlayOf(b.in.App.Metadata))+len(overlayOf(role.Metadata)) == 0 {
		return t, nil
	}
	app := m.Apply(spec.Role{Metadata: overlayOf(b.in.App.Metadata)})
	for _, metadata := range []map[string]any{app.Metadata, role.Metadata} {
		value, ok := metadata[overlayKey]
		if !ok || value == nil {
			continue
		}
		change, err := b.podOverlay(value)
		if err == nil {
			t, err = apply(t, change)
		}
		if err != nil {
			return nil, fmt.Errorf("kubernetes overlay of role %s: %w", role.Name, err)
		}
	}
	if err := checkPod(t); err != nil {
		return nil, fmt.Errorf("kubernetes overlay of role %s: %w", role.Name, err)
	}
	return t, nil
}

// podOverlay returns the overlay of pods in a value of metadata: overlays by kind, a
// file, or the overlay itself.
func (b *builder) podOverlay(value any) (map[string]any, error) {
	if file, ok := value.(string); ok {
		return b.overlayFile(file)
	}
	m, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("metadata must hold a dict, or file://PATH")
	}
	if marked, _ := m[overlay.Marker].(bool); !marked {
		return m, checkFields(m)
	}
	for _, kind := range slices.Sorted(maps.Keys(m)) {
		if kind != overlay.Marker && kind != overlayPod {
			return nil, fmt.Errorf("there is no %s to change, only a %s", kind, overlayPod)
		}
	}
	pod, ok := m[overlayPod].(map[string]any)
	if !ok && m[overlayPod] != nil {
		return nil, fmt.Errorf("%s must be a dict", overlayPod)
	}
	return pod, checkFields(pod)
}

// overlayFile reads a file, once for all replicas.
func (b *builder) overlayFile(uri string) (map[string]any, error) {
	if pod, ok := b.overlays[uri]; ok {
		return pod, nil
	}
	pod, err := readOverlay(uri, b.in.Cwd)
	if err == nil {
		if b.overlays == nil {
			b.overlays = map[string]map[string]any{}
		}
		b.overlays[uri] = pod
	}
	return pod, err
}

// checkFields refuses fields of a pod that an overlay cannot change.
func checkFields(pod map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(pod)) {
		switch key {
		case "spec", "metadata", "apiVersion", "kind":
		default:
			return fmt.Errorf("%q is no part of a pod: write {\"spec\": {...}, \"metadata\": {...}}", key)
		}
	}
	return nil
}

// maxOverlay bounds a file of an overlay in bytes.
const maxOverlay = 16 << 20

// readOverlay reads a file of YAML or JSON. A relative path starts at cwd.
func readOverlay(uri, cwd string) (map[string]any, error) {
	path, ok := strings.CutPrefix(uri, "file://")
	if !ok {
		return nil, fmt.Errorf("%q must begin with file://", uri)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	data, err := safefile.ReadInput(path, maxOverlay)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, oneLine(err))
	}
	value, err := fromYAML(&doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	pod, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s must hold a mapping with spec or metadata", path)
	}
	if err := checkFields(pod); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pod, nil
}

// fromYAML converts a document to the values that Starlark would have made.
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
			m[n.Content[i].Value] = v
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

// apply changes a pod template. Kubernetes must know all fields of the result.
func apply(t *Template, change map[string]any) (*Template, error) {
	given := *t
	keepContainers := !touchesContainers(change)
	if keepContainers { // nearly all of a pod is its containers, and there may be thousands of pods
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

// touchesContainers reports whether an overlay changes containers of any kind; its keys
// may be operations on the field.
func touchesContainers(change map[string]any) bool {
	fields, ok := change["spec"].(map[string]any)
	if !ok {
		return change["spec"] != nil
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(key string) bool {
		return strings.Contains(strings.ToLower(key), "containers")
	})
}
