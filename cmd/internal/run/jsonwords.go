package run

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"torchx/runtime/humanize"
)

// member returns the path of a value of an object.
func member(path, name string) string {
	switch {
	case name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}):
		return fmt.Sprintf("%s[%s]", path, humanize.Quote(name))
	case path == "":
		return name
	}
	return path + "." + name
}

// isType reports whether a value is of a type of JSON Schema. 2.0 is not an integer here.
func isType(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case json.Number:
		_, err := v.Int64()
		return name == "number" || name == "integer" && err == nil
	}
	return name == "object"
}

// described returns types in words.
func described(names types) string {
	words := map[string]string{
		"null": "null", "boolean": "true or false", "string": "a string", "array": "an array",
		"number": "a number", "integer": "an integer", "object": "an object",
	}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = words[name]
	}
	return strings.Join(all, " or ")
}

// shown returns a value for a message.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return humanize.Quote(v)
	case json.Number:
		return humanize.Text(v.String())
	case []any:
		return "an array"
	}
	return "an object"
}
