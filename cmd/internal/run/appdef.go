package run

import (
	"bytes"
	"encoding/json"
	"fmt"

	"torchx/docs"
	"torchx/runtime/spec"
)

// appFile is docs/schema/app.json: an app that a program made.
type appFile struct {
	App *spec.App
	Cfg map[string]any // options of the backend
}

// isAppFile reports whether JSON is an app alone, and not a plan or a described app, which have
// what identifies it, too.
func isAppFile(data []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields["app"] == nil {
		return false
	}
	for _, name := range []string{"request", "handle", "planned"} {
		if v, ok := fields[name]; ok && string(v) != "null" {
			return false
		}
	}
	return true
}

// parseAppFile decodes an app. Errors name the path of what is wrong, such as
// app.roles[0].num_replicas.
func parseAppFile(data []byte) (*appFile, error) {
	if err := checkAppFile(data); err != nil {
		return nil, err
	}
	var in struct {
		App struct {
			Name     string
			Roles    []json.RawMessage
			Metadata map[string]any
		}
		Cfg map[string]any
	}
	if err := decodeNumbers(data, &in); err != nil {
		return nil, err
	}
	app := &spec.App{Name: in.App.Name, Metadata: in.App.Metadata}
	if app.Metadata == nil {
		app.Metadata = map[string]any{}
	}
	for i, raw := range in.App.Roles {
		role := spec.NewRole("", "")
		if err := decodeNumbers(raw, &role); err != nil {
			return nil, fmt.Errorf("app.roles[%d]: %w", i, err)
		}
		app.Roles = append(app.Roles, role)
	}
	return &appFile{App: app, Cfg: in.Cfg}, nil
}

// checkAppFile compares JSON with docs/schema/app.json.
func checkAppFile(data []byte) error {
	c := checker{map[string]*schema{}}
	if _, err := c.read("common.json"); err != nil {
		return err
	}
	s, err := c.read("app.json")
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil { // all of it, other than a decoder
		return fmt.Errorf("not JSON: %s", jsonProblem(err, data))
	}
	if err := decodeNumbers(data, &v); err != nil {
		return err
	}
	if _, ok := v.(map[string]any); !ok {
		return fmt.Errorf(`must be an object like {"app": …}, got %s`, shown(v))
	}
	return c.check(s, "", v)
}

// read reads a schema of docs/schema and adds its definitions.
func (c checker) read(file string) (*schema, error) {
	text, err := docs.Files.ReadFile("schema/" + file)
	if err != nil {
		return nil, err
	}
	s := &schema{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", file, err)
	}
	for name, def := range s.Defs {
		c.defs["#/$defs/"+name], c.defs[file+"#/$defs/"+name] = def, def
	}
	return s, nil
}

// decodeNumbers is json.Unmarshal that keeps large numbers exact in free values.
func decodeNumbers(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}
