package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"torchx/docs"
)

// schema is what the reference shows of a JSON Schema.
type schema struct {
	Title, Description   string
	Ref                  string `json:"$ref"`
	Type                 typeNames
	Enum                 []string
	Format               string
	Properties           map[string]*schema
	Required             []string
	AdditionalProperties json.RawMessage
	Items                *schema
	AnyOf, OneOf         []*schema
	Defs                 map[string]*schema `json:"$defs"`
	Examples             []json.RawMessage
	Default              json.RawMessage
}

// typeNames are one type or several.
type typeNames []string

func (n *typeNames) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(n))
	}
	*n = make(typeNames, 1)
	return json.Unmarshal(data, &(*n)[0])
}

// readSchemas returns the schemas of docs/schema by name.
func readSchemas(t *testing.T) map[string]*schema {
	t.Helper()
	files, err := docs.Schemas()
	must(t, err)
	all := map[string]*schema{}
	for file, text := range files {
		s := &schema{}
		must(t, json.Unmarshal([]byte(text), s))
		all[schemaName(file)] = s
	}
	return all
}

// values returns the schema of the values of an object without fixed names; nil if they are free.
func (s *schema) values() *schema {
	if !strings.HasPrefix(string(s.AdditionalProperties), "{") {
		return nil
	}
	v := &schema{}
	if json.Unmarshal(s.AdditionalProperties, v) != nil {
		return nil
	}
	return v
}

// walk calls visit for the schema and all within it.
func (s *schema) walk(visit func(*schema)) {
	if s == nil {
		return
	}
	visit(s)
	s.Items.walk(visit)
	s.values().walk(visit)
	for _, m := range []map[string]*schema{s.Properties, s.Defs} {
		for _, one := range m {
			one.walk(visit)
		}
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		one.walk(visit)
	}
}

// refersTo reports whether the schema is a definition of common.json, or that and null.
func (s *schema) refersTo(name string) bool {
	return refName(s.Ref) == name || slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return refName(one.Ref) == name })
}

// refName returns the name of a definition; that of an app's name is name.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// names returns the names of the properties, the required ones in the order of the output.
func (s *schema) names() []string {
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)), func(n string) bool { return slices.Contains(s.Required, n) })
	return append(slices.DeleteFunc(slices.Clone(s.Required), func(n string) bool { return s.Properties[n] == nil }), rest...)
}

// jsonPage describes the JSON of every command, from its schema.
func jsonPage(t *testing.T) string {
	t.Helper()
	all := readSchemas(t)
	p := &markdown{}
	p.line("# JSON output\n\nGenerated from docs/schema by `make reference`.\n")
	p.line("%s\n", jsonRules)
	common := all[commonSchema]
	delete(all, commonSchema)
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		title := strings.ReplaceAll(all[name].Title, "`", "")
		rows = append(rows, []string{"[`" + title + "`](#" + headingID(title) + ")", "[" + name + ".json](../schema/" + name + ".json)"})
	}
	p.table([]string{"command", "schema"}, rows)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		p.line("## %s\n\n%s\n", s.Title, s.Description)
		jp := &jsonPrinter{markdown: p, defs: [2]map[string]*schema{s.Defs, common.Defs}}
		jp.fields(s)
		for _, def := range slices.Sorted(maps.Keys(s.Defs)) {
			p.line("### %s\n\n%s\n", def, s.Defs[def].Description)
			jp.fields(s.Defs[def])
		}
		p.line("Example:\n\n```json\n%s\n```\n", dedent(s.Examples[0]))
	}
	p.line("## Objects of several commands\n")
	for _, def := range slices.Sorted(maps.Keys(common.Defs)) {
		if s := common.Defs[def]; s.Properties != nil {
			p.line("### %s\n\n%s\n", def, s.Description)
			(&jsonPrinter{markdown: p, defs: [2]map[string]*schema{common.Defs}}).fields(s)
		}
	}
	return strings.TrimRight(p.String(), "\n") + "\n"
}

const jsonRules = "With `--json` a command prints JSON to stdout, and nothing else. In all commands\n\n" +
	"- the same thing has the same name: `app_id` is the ID of an app, `replica` the number of a replica;\n" +
	"- no field is left out: what is unknown, or not there yet, is `null`, and a list without elements is `[]`;\n" +
	"- a time is RFC 3339 in UTC with fractions of a second, a duration a number of seconds, a size a number of bytes;\n" +
	"- values that look like secrets are `******`, unless `--show-secrets` is given;\n" +
	"- an error is one line on stderr and an [exit code](exit-codes.md), and stdout is empty. " +
	"Where the JSON tells what is wrong (`diff`, `doctor`, `migrate`, `prune`, `component lint`, `component test`, `config explain`) it is printed, too, and `status` of several apps prints those that it finds.\n\n" +
	"Later versions may add fields; let your programs ignore fields that they do not know. " +
	"The schemas are JSON Schema, draft 2020-12; `torchx docs -o DIR` writes them to DIR/schema."

// headingID returns the anchor of a heading.
func headingID(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(title))
}

// dedent removes the indentation of an example within its file.
func dedent(example json.RawMessage) string {
	return strings.ReplaceAll(string(example), "\n    ", "\n")
}

// jsonPrinter writes tables of the fields of objects.
type jsonPrinter struct {
	*markdown
	defs [2]map[string]*schema
	rows [][]string
}

func (p *jsonPrinter) fields(s *schema) {
	p.rows = nil
	p.within("", s)
	if len(p.rows) > 0 {
		p.table([]string{"field", "type", "meaning"}, p.rows)
	}
}

// within adds rows for the fields of all objects that s describes.
func (p *jsonPrinter) within(prefix string, s *schema) {
	switch v := s.values(); {
	case s.Items != nil:
		p.within(prefix+"[]", s.Items)
	case v != nil:
		p.within(prefix+".*", v)
	}
	for _, name := range s.names() {
		field := s.Properties[name]
		at := strings.TrimPrefix(prefix+"."+name, ".")
		p.rows = append(p.rows, []string{"`" + at + "`", p.typeOf(field), p.meaning(field)})
		p.within(at, field)
	}
}

// resolve returns the definition that s refers to, else s.
func (p *jsonPrinter) resolve(s *schema) *schema {
	for _, defs := range p.defs {
		if d := defs[refName(s.Ref)]; d != nil && s.Ref != "" {
			return d
		}
	}
	return s
}

func (p *jsonPrinter) meaning(s *schema) string {
	d := p.resolve(s)
	text := cmp.Or(s.Description, d.Description)
	if len(d.Enum) > 0 {
		text += " One of `" + strings.Join(d.Enum, "`, `") + "`."
	}
	if len(s.Default) > 0 {
		text += " Default: `" + string(s.Default) + "`."
	}
	return text
}

// typeOf returns a type in words.
func (p *jsonPrinter) typeOf(s *schema) string {
	if d := p.resolve(s); d != s && d.Properties != nil {
		return "[" + refName(s.Ref) + "](#" + headingID(refName(s.Ref)) + ")"
	} else if d != s {
		return p.typeOf(d)
	}
	var parts []string
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		if one.Ref != "" || one.Type != nil {
			parts = append(parts, p.typeOf(one))
		}
	}
	for _, name := range s.Type {
		switch v := s.values(); {
		case name == "array" && s.Items != nil:
			name = "list of " + p.typeOf(s.Items)
		case name == "object" && v != nil:
			name = "map of " + p.typeOf(v)
		case name == "string" && s.Format == "date-time":
			name = "time"
		}
		parts = append(parts, name)
	}
	return cmp.Or(strings.Join(parts, " or "), "any")
}
