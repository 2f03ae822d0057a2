package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"torchx/docs"
)

// common is the file of docs/schema that others refer to.
const common = "common"

// outputSchema returns a schema of docs/schema as one document: clients do not follow references to
// other files. With list it is that of an object with a list of this name.
func outputSchema(name, list string) (map[string]any, error) {
	b := bundle{defs: map[string]any{}}
	root, err := b.load(name)
	if err != nil {
		return nil, err
	}
	schema := map[string]any{"type": "object", "$defs": b.defs}
	if list != "" {
		schema["properties"] = map[string]any{list: map[string]any{"type": "array", "items": root["items"], "description": root["description"]}}
		schema["required"] = []string{list}
		return schema, nil
	}
	for _, key := range []string{"properties", "required", "additionalProperties", "description"} {
		if v, ok := root[key]; ok {
			schema[key] = v
		}
	}
	return schema, nil
}

// bundle collects definitions, those of common.json by names that begin with it.
type bundle struct{ defs map[string]any }

// load returns a schema whose references lead into the bundle.
func (b bundle) load(name string) (map[string]any, error) {
	data, err := docs.Files.ReadFile("schema/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("read a JSON Schema: %w", err)
	}
	var root map[string]any
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("read schema/%s.json: %w", name, err)
	}
	if name != common {
		own, _ := root["$defs"].(map[string]any)
		for key, def := range own {
			b.defs[key] = def
		}
		return root, b.resolve(root, "")
	}
	return root, nil
}

// resolve rewrites the references in a schema of common.json, or else of another file, and adds to the
// bundle what they name.
func (b bundle) resolve(v any, prefix string) error {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := b.resolve(one, prefix); err != nil {
				return err
			}
		}
	case map[string]any:
		ref, _ := v["$ref"].(string)
		file, def, isDef := strings.Cut(ref, "#/$defs/")
		if isDef && (file != "" || prefix != "") {
			v["$ref"] = "#/$defs/" + common + "_" + def
			if err := b.add(def); err != nil {
				return err
			}
		}
		for key, one := range v {
			if key == "examples" {
				delete(v, key)
			} else if err := b.resolve(one, prefix); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a definition of common.json with those that it refers to.
func (b bundle) add(def string) error {
	name := common + "_" + def
	if b.defs[name] != nil {
		return nil
	}
	root, err := b.load(common)
	if err != nil {
		return err
	}
	defs, _ := root["$defs"].(map[string]any)
	if defs[def] == nil {
		return fmt.Errorf("schema/%s.json has no %s", common, def)
	}
	b.defs[name] = defs[def]
	return b.resolve(defs[def], common)
}
