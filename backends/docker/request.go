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

// Request is what the engine is asked to run, in the words of its API: one
// container for each replica, in the order of roles and replicas.
type Request struct {
	AppID      string      `json:"app_id"`
	Network    string      `json:"network"` // the bridge that all containers join, made at submit
	Containers []Container `json:"containers"`

	builds       []build // images that the containers need and this machine can build
	defaultImage string  // the image of roles that choose none
}

// Container is the body of one POST /containers/create, and the container's name.
type Container struct {
	Name       string                    `json:"name"`
	Config     *container.Config         `json:"config"`
	HostConfig *container.HostConfig     `json:"host_config"`
	Networking *network.NetworkingConfig `json:"networking_config"`
}

// MarshalJSON leaves out members that have their zero value, which for the Engine API
// means the same as no member: its types have a hundred lines of them for each
// container. A pointer to zero stays: it says something.
func (c Container) MarshalJSON() ([]byte, error) {
	type plain Container
	var b bytes.Buffer
	err := compact(&b, reflect.ValueOf(plain(c)))
	return b.Bytes(), err
}

// compact writes a value as MarshalJSON has it.
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

// encode writes a value as encoding/json does, but leaves <, > and & as they are.
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
		if !f.IsExported() || f.Anonymous || name == "-" || value.IsZero() || list && value.Len() == 0 {
			continue // the fields of an embedded struct are visible by themselves
		}
		if name == "" {
			name = f.Name
		}
		names, values = append(names, name), append(values, value)
	}
	return compactAll(b, "{}", len(names), func(i int) (string, reflect.Value) { return names[i], values[i] })
}

// compactAll writes n members between two brackets.
func compactAll(b *bytes.Buffer, brackets string, n int, member func(i int) (name string, v reflect.Value)) error {
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
