package docker

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
)

// Request is the plan of an app in the types of the Engine API: one container per
// replica, in the order of roles and replicas.
type Request struct {
	AppID      string      `json:"app_id"`
	Network    string      `json:"network"` // the bridge that all containers join, created at submit
	Containers []Container `json:"containers"`
	OutputDir  string      `json:"output_dir,omitempty"` // "": in the bundle

	builds       []build // images that this machine builds for the containers
	defaultImage string  // the image of roles that set none
}

// Container is the body of one POST /containers/create, with the container's name.
type Container struct {
	Name       string                    `json:"name"`
	Config     *container.Config         `json:"config"`
	HostConfig *container.HostConfig     `json:"host_config"`
	Networking *network.NetworkingConfig `json:"networking_config"`
	Platform   string                    `json:"platform"` // "": that of the image
}

// MarshalJSON omits members with their zero value, about a hundred lines per container.
// To the Engine API, a missing member means the same. It keeps pointers to zero values,
// which have a meaning.
func (c Container) MarshalJSON() ([]byte, error) {
	type plain Container
	var b bytes.Buffer
	err := compact(&b, reflect.ValueOf(plain(c)))
	return b.Bytes(), err
}

// compact writes a value in the form of MarshalJSON.
func compact(b *bytes.Buffer, v reflect.Value) error {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.CanInterface() {
		if _, own := v.Interface().(json.Marshaler); own {
			return encode(b, v.Interface())
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		return compactStruct(b, v)
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		return compactAll(b, "{}", len(keys), func(i int) (string, reflect.Value) { return keys[i].String(), v.MapIndex(keys[i]) })
	case reflect.Slice:
		return compactAll(b, "[]", v.Len(), func(i int) (string, reflect.Value) { return "", v.Index(i) })
	}
	return encode(b, v.Interface())
}

// encode writes a value as encoding/json does, but does not escape <, > and &.
func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline
	return nil
}

func compactStruct(b *bytes.Buffer, v reflect.Value) error {
	var names []string
	var values []reflect.Value
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value := v.FieldByIndex(f.Index)
		list := value.Kind() == reflect.Slice || value.Kind() == reflect.Map
		if !f.IsExported() || f.Anonymous || name == "-" || value.IsZero() ||
			list && value.Len() == 0 {
			continue // VisibleFields lists the fields of embedded structs, too
		}
		if name == "" {
			name = f.Name
		}
		names, values = append(names, name), append(values, value)
	}
	return compactAll(b, "{}", len(names), func(i int) (string, reflect.Value) { return names[i], values[i] })
}

// compactAll writes n members between the two brackets.
func compactAll(
	b *bytes.Buffer, brackets string, n int, member func(i int) (name string, v reflect.Value),
) error {
	b.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name, v := member(i)
		if brackets == "{}" {
			if err := encode(b, name); err != nil {
				return err
			}
			b.WriteByte(':')
		}
		if err := compact(b, v); err != nil {
			return err
		}
	}
	b.WriteByte(brackets[1])
	return nil
}
