package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"torchx/runtime/overlay"
	"torchx/runtime/spec"
)

const (
	// overlayKey is the key of an app's or role's metadata that holds overlays.
	overlayKey = "kubernetes"
	// overlayPod is the kind of object that overlays can change.
	overlayPod = "V1Pod"
	// tupleTag marks a list in a file that replaces another one; as in TorchX.
	tupleTag = "!!python/tuple"
)

// overlaid applies the overlays to pods: first the app's, then the role's.
func (b *builder) overlaid(t *Template, m spec.Macros, role *spec.Role) (*Template, error) {
	if len(pick(b.in.App.Metadata))+len(pick(role.Metadata)) == 0 {
		return t, nil
	}
	app := m.Apply(spec.Role{Metadata: pick(b.in.App.Metadata)})
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

// podOverlay finds the overlay of pods in a value of metadata: overlays by kind, a
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

// overlayFile reads a file once for all replicas.
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

// checkFields refuses what is no part of a pod that can be changed.
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

// readOverlay reads a file of YAML, of which JSON is a part. A relative path is
// taken from cwd.
func readOverlay(uri, cwd string) (map[string]any, error) {
	path, ok := strings.CutPrefix(uri, "file://")
	if !ok {
		return nil, fmt.Errorf("%q must begin with file://", uri)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	data, err := os.ReadFile(path)
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

// fromYAML turns a file into what Starlark would have made.
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

// apply changes pods. What the result has must be known to Kubernetes.
func apply(t *Template, change map[string]any) (*Template, error) {
	given := *t
	aside := !touchesContainers(change)
	if aside { // nearly all of a pod is its containers, and there may be thousands of pods
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
	if err := strict(data, out); err != nil {
		return nil, err
	}
	if aside {
		out.Spec.InitContainers, out.Spec.Containers = t.Spec.InitContainers, t.Spec.Containers
	}
	return out, nil
}

// touchesContainers tells whether an overlay changes containers of any kind; its
// keys may be operations on the field.
func touchesContainers(change map[string]any) bool {
	fields, ok := change["spec"].(map[string]any)
	if !ok {
		return change["spec"] != nil
	}
	for key := range fields {
		if strings.Contains(strings.ToLower(key), "containers") {
			return true
		}
	}
	return false
}

// strict decodes JSON and refuses fields that nobody knows.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return decodeError(d.Decode(into))
}

// decodeError says in the words of JSON what encoding/json says in those of Go.
func decodeError(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return fmt.Errorf("%s does not take a JSON %s", kind.Field, kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
