package docker

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// compactJSON is json.Marshal without members that have their zero value, which
// for the Engine API means the same as no member. A pointer to zero stays: it says something.
func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := compact(&b, reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func compact(b *bytes.Buffer, v reflect.Value) error {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.CanInterface() {
		if _, own := v.Interface().(json.Marshaler); own {
			return encode(b, v)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		b.WriteByte('{')
		if err := compactFields(b, v); err != nil {
			return err
		}
		b.WriteByte('}')
		return nil
	case reflect.Map:
		return compactMap(b, v)
	case reflect.Slice:
		return compactList(b, v)
	}
	return encode(b, v)
}

// encode writes a value as encoding/json does, but leaves <, > and & as they are.
func encode(b *bytes.Buffer, v reflect.Value) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline
	return nil
}

func compactFields(b *bytes.Buffer, v reflect.Value) error {
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue // the fields of an embedded struct are visible by themselves
		}
		value := v.FieldByIndex(f.Index)
		if unsaid(value) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if err := compactMember(b, name, value); err != nil {
			return err
		}
	}
	return nil
}

func unsaid(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

func compactMember(b *bytes.Buffer, name string, v reflect.Value) error {
	if last := b.Bytes()[b.Len()-1]; last != '{' {
		b.WriteByte(',')
	}
	if err := encode(b, reflect.ValueOf(name)); err != nil {
		return err
	}
	b.WriteByte(':')
	return compact(b, v)
}

func compactMap(b *bytes.Buffer, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	b.WriteByte('{')
	for _, k := range keys {
		if err := compactMember(b, k.String(), v.MapIndex(k)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func compactList(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := compact(b, v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}
