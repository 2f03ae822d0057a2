package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Entry is a key and its value in a Map.
type Entry[V any] struct {
	Key   string
	Value V
}

// Map is a small map that keeps the order in which keys were first set. Users see the order of
// env in a container and of ports in a pod.
type Map[V any] []Entry[V]

// Get returns the value of key and whether it exists.
func (m Map[V]) Get(key string) (V, bool) {
	for i := range m {
		if m[i].Key == key {
			return m[i].Value, true
		}
	}
	var zero V
	return zero, false
}

// Set sets the value of key: in its place if it exists, else at the end.
func (m *Map[V]) Set(key string, value V) {
	for i := range *m {
		if (*m)[i].Key == key {
			(*m)[i].Value = value
			return
		}
	}
	*m = append(*m, Entry[V]{key, value})
}

// SetDefault sets the value of key if it has none.
func (m *Map[V]) SetDefault(key string, value V) {
	if _, ok := m.Get(key); !ok {
		m.Set(key, value)
	}
}

// Clone returns a copy that shares only the values.
func (m Map[V]) Clone() Map[V] { return append(Map[V]{}, m...) }

// MarshalJSON writes an object with the keys in order.
func (m Map[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // whether to escape is for the caller to say
	b.WriteByte('{')
	for i, e := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encoder.Encode(e.Key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encoder.Encode(e.Value); err != nil {
			return nil, fmt.Errorf("encode %q: %w", e.Key, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object and keeps the order of its keys; null gives an empty map.
func (m *Map[V]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil {
		return err
	}
	*m = Map[V]{}
	if t == nil {
		return nil
	}
	if t != json.Delim('{') {
		return fmt.Errorf("expected an object, got %v", t)
	}
	at := map[string]int{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return err
		}
		key := k.(string) // object keys are always strings
		var v V
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("decode %q: %w", key, err)
		}
		if i, ok := at[key]; ok {
			(*m)[i].Value = v
			continue
		}
		at[key] = len(*m)
		*m = append(*m, Entry[V]{key, v})
	}
	_, err = d.Token()
	return err
}
