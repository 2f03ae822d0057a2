package run

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"torchx/runtime/humanize"
)

// checker compares a value with a schema.
type checker struct {
	defs map[string]*schema // by reference
}

// check returns an error, with the path of the value in question, unless v is valid. v is
// decoded with numbers as json.Number.
func (c checker) check(s *schema, path string, v any) error {
	if s.Ref != "" {
		s = c.defs[s.Ref]
	}
	if len(s.OneOf) > 0 {
		var err error
		if s, err = c.branch(s.OneOf, path, v); err != nil {
			return err
		}
	}
	if len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(name string) bool { return isType(name, v) }) {
		return fmt.Errorf("%s: must be %s, got %s", path, described(s.Type), shown(v))
	}
	switch v := v.(type) {
	case string:
		return s.checkText(path, v)
	case json.Number:
		return s.checkNumber(path, v)
	case []any:
		return c.checkItems(s, path, v)
	case map[string]any:
		return c.checkObject(s, path, v)
	}
	return nil
}

// branch returns the schema of an object of that kind.
func (c checker) branch(all []*schema, path string, v any) (*schema, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: must be an object, got %s", path, shown(v))
	}
	var kinds []string
	for _, s := range all {
		s = c.defs[s.Ref]
		kind := s.Properties["kind"].Enum[0]
		if object["kind"] == kind {
			return s, nil
		}
		kinds = append(kinds, kind)
	}
	if object["kind"] == nil {
		return nil, fmt.Errorf("%s.kind: is missing: one of %s", path, humanize.List(kinds))
	}
	return nil, fmt.Errorf("%s.kind: must be one of %s, got %s", path, humanize.List(kinds), shown(object["kind"]))
}

func (s *schema) checkText(path, text string) error {
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		return fmt.Errorf("%s: must be one of %s, got %s", path, humanize.List(s.Enum), shown(text))
	case utf8.RuneCountInString(text) < s.MinLength:
		return fmt.Errorf("%s: must not be empty", path)
	case s.MaxLength > 0 && utf8.RuneCountInString(text) > s.MaxLength:
		return fmt.Errorf("%s: must have at most %d characters", path, s.MaxLength)
	}
	return nil
}

func (s *schema) checkNumber(path string, text json.Number) error {
	n, _ := text.Float64()
	switch {
	case s.Minimum != nil && n < *s.Minimum:
		return fmt.Errorf("%s: must be at least %v, got %s", path, *s.Minimum, text)
	case s.Maximum != nil && n > *s.Maximum:
		return fmt.Errorf("%s: must be at most %.0f, got %s", path, *s.Maximum, text)
	}
	return nil
}

func (c checker) checkItems(s *schema, path string, list []any) error {
	if len(list) < s.MinItems {
		return fmt.Errorf("%s: must not be empty", path)
	}
	for i, v := range list {
		if s.Items == nil {
			break
		}
		if err := c.check(s.Items, fmt.Sprintf("%s[%d]", path, i), v); err != nil {
			return err
		}
	}
	return nil
}

func (c checker) checkObject(s *schema, path string, object map[string]any) error {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return fmt.Errorf("%s: is missing", member(path, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := s.Properties[name]
		if value == nil && s.AdditionalProperties.closed {
			return fmt.Errorf("%s: unknown field.%s", member(path, name),
				humanize.Hint(name, slices.Sorted(maps.Keys(s.Properties))))
		}
		if value == nil {
			value = s.AdditionalProperties.values
		}
		if value == nil {
			continue
		}
		if err := c.check(value, member(path, name), object[name]); err != nil {
			return err
		}
	}
	return nil
}
