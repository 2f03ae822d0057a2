package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/humanize"
)

// tool is a command line with its input.
type tool struct {
	name, title, about string

	words  []string // the command, and flags that it always has
	fields []field
	// schema is that of docs/schema which the structured answer has. If that is one of lists, list is the
	// name of the list in the answer.
	schema, list string
	changes      bool // it runs or ends apps
	destroys     bool
	// call returns the answer; nil: the JSON that the command prints.
	call func(ctx context.Context, s *server, t *tool, in input) (*answer, error)
}

// kind is the type of a field in JSON Schema.
type kind string

const (
	text    kind = "string"
	number  kind = "integer"
	truth   kind = "boolean"
	texts   kind = "array"
	mapping kind = "object" // of texts
)

// field is a part of the input.
type field struct {
	name     string
	kind     kind
	about    string
	flag     string // of the command; "": an argument
	required bool
	own      bool // not part of the command line
	raw      bool // an argument that may begin with -, since it follows the component
}

// input is what a client sent, checked against the fields.
type input map[string]any

func (in input) text(name string) string {
	s, _ := in[name].(string)
	return s
}

func (in input) number(name string, otherwise int) int {
	if n, ok := in[name].(float64); ok {
		return int(n)
	}
	return otherwise
}

// definition is the tool as tools/list has it.
func (t *tool) definition() (map[string]any, error) {
	properties, required := map[string]any{}, []string{}
	for _, f := range t.fields {
		p := map[string]any{"type": f.kind, "description": f.about}
		switch f.kind {
		case texts:
			p["items"] = map[string]any{"type": text}
		case mapping:
			p["additionalProperties"] = map[string]any{"type": text}
		}
		properties[f.name] = p
		if f.required {
			required = append(required, f.name)
		}
	}
	d := map[string]any{
		"name": t.name, "title": t.title, "description": t.about,
		"inputSchema": map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		"annotations": map[string]any{
			"title": t.title, "readOnlyHint": !t.changes, "destructiveHint": t.destroys, "idempotentHint": !t.changes || t.destroys, "openWorldHint": t.changes,
		},
	}
	if t.schema == "" {
		return d, nil
	}
	schema, err := outputSchema(t.schema, t.list)
	d["outputSchema"] = schema
	return d, err
}

// check returns an error for an input that does not have the types of the fields.
func (t *tool) check(in input) error {
	var names []string
	for _, f := range t.fields {
		names = append(names, f.name)
		v, ok := in[f.name]
		if !ok || v == nil {
			if f.required {
				return fmt.Errorf("missing %s: %s", f.name, f.about)
			}
			continue
		}
		if !f.kind.matches(v) {
			return fmt.Errorf("%s is not of type %s", f.name, f.kind)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unknown argument %q: the tool has %s.%s", name, strings.Join(names, ", "), humanize.Hint(name, names))
		}
	}
	return nil
}

func (k kind) matches(v any) bool {
	isText := func(v any) bool { _, ok := v.(string); return ok }
	switch v := v.(type) {
	case string:
		return k == text
	case float64:
		return k == number && v == float64(int(v))
	case bool:
		return k == truth
	case []any:
		return k == texts && !slices.ContainsFunc(v, func(v any) bool { return !isText(v) })
	case map[string]any:
		return k == mapping && !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(v any) bool { return !isText(v) })
	}
	return false
}

// line returns the command line of a call.
func (t *tool) line(in input) ([]string, error) {
	line := slices.Clone(t.words)
	var arguments []string
	for _, f := range t.fields {
		v, ok := in[f.name]
		if !ok || v == nil || f.own {
			continue
		}
		for _, value := range values(v) {
			switch {
			case f.flag != "" && f.kind == truth:
				line = append(line, f.flag)
			case f.flag != "":
				line = append(line, f.flag+"="+value)
			case !f.raw && (value == "" || strings.HasPrefix(value, "-") && value != "-"):
				return nil, fmt.Errorf("%s: %q is not a name", f.name, value)
			default:
				arguments = append(arguments, value)
			}
		}
	}
	return append(line, arguments...), nil
}

// values returns the texts of a value; none for false.
func values(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case float64:
		return []string{strconv.Itoa(int(v))}
	case bool:
		if v {
			all = []string{""}
		}
	case []any:
		for _, one := range v {
			all = append(all, values(one)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, key+"="+values(v[key])[0])
		}
	}
	return all
}

func (s *server) listTools() (any, error) {
	list := []any{}
	for _, t := range s.tools {
		d, err := t.definition()
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return map[string]any{"tools": list}, nil
}

// callTool runs a tool. Its failure is an answer for the agent, not an error of the protocol.
func (s *server) callTool(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		Name      string `json:"name"`
		Arguments input  `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, failure(codeParams, "tools/call: %v", err)
	}
	n := slices.IndexFunc(s.tools, func(t *tool) bool { return t.name == p.Name })
	if n < 0 {
		if slices.ContainsFunc(allTools(), func(t *tool) bool { return t.name == p.Name }) {
			return nil, failure(codeParams, "tool %s is not offered: torchx mcp was started with --read-only", p.Name)
		}
		return nil, failure(codeParams, "unknown tool %q", p.Name)
	}
	t := s.tools[n]
	a, err := t.answer(ctx, s, p.Arguments)
	if err != nil {
		a = &answer{text: err.Error(), failed: true}
	}
	return a.result(), nil
}

func (t *tool) answer(ctx context.Context, s *server, in input) (*answer, error) {
	if err := t.check(in); err != nil {
		return nil, err
	}
	if t.call != nil {
		return t.call(ctx, s, t, in)
	}
	return s.printed(ctx, t, in)
}
