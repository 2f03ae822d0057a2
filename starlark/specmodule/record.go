package specmodule

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// kind says which of the specs types a record is.
type kind int

const (
	kindApp kind = iota
	kindRole
	kindResource
	kindBind
	kindVolume
	kindDevice
	kindWorkspace
	kindCount
)

var kindNames = [kindCount]string{
	"AppDef", "Role", "Resource", "BindMount", "VolumeMount", "DeviceMount", "Workspace",
}

// name returns the name within the module, String the name in messages.
func (k kind) name() string   { return kindNames[k] }
func (k kind) String() string { return "specs." + kindNames[k] }

// record is an immutable value of a specs type, with the checked fields of its schema.
type record struct {
	kind   kind
	values []starlark.Value // in the order of schemas[kind]
	call   callFunc         // runs pre_proc; roles only
}

type callFunc = func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error)

var (
	_ starlark.HasSetField = (*record)(nil)
	_ starlark.Comparable  = (*record)(nil)
	_ json.Marshaler       = (*record)(nil)
)

// Type returns "specs.Role" and so on.
func (r *record) Type() string { return r.kind.String() }

// Truth is always true.
func (r *record) Truth() starlark.Bool { return true }

// Freeze does nothing: the fields of a record are frozen already.
func (r *record) Freeze() {}

// String returns the call that creates an equal value, without defaults.
func (r *record) String() string {
	var b strings.Builder
	b.WriteString(r.Type() + "(")
	sep := ""
	for i, f := range schemas[r.kind] {
		if f.fallback != nil {
			if same, err := starlark.Equal(r.values[i], f.fallback); same && err == nil {
				continue
			}
		}
		fmt.Fprintf(&b, "%s%s = %s", sep, f.name, r.values[i])
		sep = ", "
	}
	b.WriteString(")")
	return b.String()
}

// Hash returns an error for kinds with dicts or lists: only mounts are hashable.
func (r *record) Hash() (uint32, error) {
	h := uint32(r.kind) + 8731
	for i, v := range r.values {
		x, err := v.Hash()
		if err != nil {
			return 0, fmt.Errorf("unhashable: %s has a %s in %s", r.Type(), v.Type(),
				schemas[r.kind][i].name)
		}
		h = h*31 + x
	}
	return h, nil
}

// CompareSameType compares field by field. Records are not ordered.
func (r *record) CompareSameType(o syntax.Token, other starlark.Value, depth int) (bool, error) {
	if o != syntax.EQL && o != syntax.NEQ {
		return false, fmt.Errorf("%s %s %s not implemented", r.Type(), o, other.Type())
	}
	equal, err := r.equal(other.(*record), depth)
	return equal == (o == syntax.EQL), err
}

func (r *record) equal(other *record, depth int) (bool, error) {
	if r.kind != other.kind {
		return false, nil
	}
	for i, v := range r.values {
		same, err := starlark.EqualDepth(v, other.values[i], depth-1)
		if !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// Attr returns a field.
func (r *record) Attr(name string) (starlark.Value, error) {
	if i := fieldIndex(r.kind, name); i >= 0 {
		return r.values[i], nil
	}
	return nil, nil
}

// AttrNames lists the fields in the order of the schema.
func (r *record) AttrNames() []string { return fieldNames(r.kind) }

// SetField returns an error that points to specs.replace.
func (r *record) SetField(name string, _ starlark.Value) error {
	return fmt.Errorf("a %s cannot be changed: use specs.replace(value, %s = ...) to make a changed copy", r.Type(), name)
}

// MarshalJSON encodes the value as in app specs.
func (r *record) MarshalJSON() ([]byte, error) {
	v, err := r.toSpec()
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// clone returns a copy whose fields can be set.
func (r *record) clone() *record {
	c := *r
	c.values = slices.Clone(r.values)
	return &c
}

// get returns a field, which must be in the schema.
func (r *record) get(name string) starlark.Value { return r.values[fieldIndex(r.kind, name)] }
