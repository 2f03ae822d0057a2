// Package overlay merges a user's partial Kubernetes object (an "overlay") into a generated one.
// Objects are JSON-like: map[string]any, []any, spec.Tuple, strings, numbers, booleans and nil.
// Apply changes an object; Compose merges two overlays of one object.
//
// Plain fields merge: maps field by field, lists by appending; other values replace, and a
// spec.Tuple replaces a list. The keys of Put, Join and Del are operations. They are TorchX's, so
// that its overlay files work.
package overlay

import (
	"fmt"
	"strings"

	"torchx/runtime/spec"
)

// Marker is the key that distinguishes overlays by object kind ({Marker: true, "V1Pod": {...}})
// from an overlay.
const Marker = "__torchx_overlays__"

const (
	putPrefix  = "__put__:"
	joinPrefix = "__join__:"
	delPrefix  = "__del__:"
)

// Put returns the key whose value replaces field, whatever its old value.
func Put(field string) string { return putPrefix + field }

// Join returns the key whose list of maps is merged into the list of field: an item changes the
// item with the same value of on, or is appended.
func Join(field, on string) string { return joinPrefix + field + ":" + on }

// Del returns the key that removes field; its value is ignored.
func Del(field string) string { return delPrefix + field }

// Replaced returns the key that has no effect if key follows it in an ordered map: the later of a
// plain field and a Put of it overrides. It is "" if there is none.
func Replaced(key string) string {
	switch o, err := parseKey(key); {
	case err == nil && o.kind == opMerge:
		return Put(key)
	case err == nil && o.kind == opPut:
		return o.field
	}
	return ""
}

// opKind is the kind of a key. Operations on one field run in the order of these constants, since
// maps are unordered.
type opKind int

const (
	opMerge opKind = iota
	opPut
	opJoin
	opDel
	opCount
)

// op is a parsed key.
type op struct {
	kind  opKind
	field string
	on    string // set for joins
}

func (o op) key() string {
	switch o.kind {
	case opPut:
		return Put(o.field)
	case opJoin:
		return Join(o.field, o.on)
	case opDel:
		return Del(o.field)
	}
	return o.field
}

func parseKey(key string) (op, error) {
	if field, ok := strings.CutPrefix(key, putPrefix); ok {
		return op{kind: opPut, field: field}, nil
	}
	if field, ok := strings.CutPrefix(key, delPrefix); ok {
		return op{kind: opDel, field: field}, nil
	}
	rest, ok := strings.CutPrefix(key, joinPrefix)
	if !ok {
		return op{field: key}, nil
	}
	// The last colon: a field of an object may contain one, a key of list items never does.
	i := strings.LastIndexByte(rest, ':')
	if i <= 0 || i == len(rest)-1 {
		return op{}, fmt.Errorf("malformed JOIN key: `%s`, expected format from JOIN(field, on=key)", key)
	}
	return op{opJoin, rest[:i], rest[i+1:]}, nil
}

// child returns the path of a field for error messages.
func child(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// clone returns a deep copy with tuples replaced by lists.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = clone(e)
		}
		return c
	case []any:
		return cloneList(v)
	case spec.Tuple:
		return cloneList(v)
	}
	return v
}

func cloneList(l []any) []any {
	c := make([]any, len(l))
	for i, v := range l {
		c[i] = clone(v)
	}
	return c
}

// asList returns the items of a list or tuple.
func asList(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case spec.Tuple:
		return v, true
	}
	return nil, false
}

// typeName returns the type of a value as component authors know it.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case string:
		return "string"
	case map[string]any:
		return "dict"
	case []any:
		return "list"
	case spec.Tuple:
		return "tuple"
	case float64:
		if v != float64(int64(v)) {
			return "float"
		}
	}
	return "int"
}
