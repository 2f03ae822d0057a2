package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/docs"
)

// commonSchema has the definitions that the schemas of the commands share.
const commonSchema = "common"

// schemaURL is where the schemas refer to each other.
const schemaURL = "https://torchx.invalid/"

// compiledSchemas returns the schemas of docs/schema by name.
var compiledSchemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	files, err := docs.Schemas()
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for file, text := range files {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(schemaURL+path.Base(file), doc); err != nil {
			return nil, err
		}
	}
	all := map[string]*jsonschema.Schema{}
	for file := range files {
		if all[schemaName(file)], err = c.Compile(schemaURL + path.Base(file)); err != nil {
			return nil, err
		}
	}
	return all, nil
})

func schemaName(file string) string { return strings.TrimSuffix(path.Base(file), ".json") }

// validate returns an error unless text is JSON values, at least one, of a schema.
func validate(schema, text string) error {
	all, err := compiledSchemas()
	if err != nil {
		return err
	}
	if all[schema] == nil {
		return errors.New("no schema " + schema)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for n := 0; ; n++ {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) && n > 0 {
			return nil
		} else if err != nil {
			return err
		}
		if err := all[schema].Validate(v); err != nil {
			return err
		}
	}
}

// schemaCommand is the script command `schema NAME`: the previous command must have
// printed JSON that matches docs/schema/NAME.json.
func schemaCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema NAME")
	}
	ts.Check(validate(args[0], ts.ReadFile("stdout")))
}

// TestSchemaExamples: the examples match their schemas.
func TestSchemaExamples(t *testing.T) {
	t.Parallel()
	for name, s := range readSchemas(t) {
		if len(s.Examples) == 0 && name != commonSchema {
			t.Errorf("%s has no example", name)
		}
		for _, example := range s.Examples {
			if err := validate(name, string(example)); err != nil {
				t.Errorf("an example of %s: %v", name, err)
			}
		}
	}
}

// TestSchemaOfEachCommand: each command with --json has a schema, which a script compares
// with what the command prints.
func TestSchemaOfEachCommand(t *testing.T) {
	t.Parallel()
	checked := map[string]bool{}
	scripts, err := fs.Glob(os.DirFS("testdata/script"), "*.txtar")
	must(t, err)
	for _, script := range scripts {
		data, err := os.ReadFile("testdata/script/" + script)
		must(t, err)
		for _, m := range regexp.MustCompile(`(?m)^schema (\S+)$`).FindAllStringSubmatch(string(data), -1) {
			checked[m[1]] = true
		}
	}
	schemas := readSchemas(t)
	app := program.NewFactory(ui.Streams{}, program.Environment{}, torchxProgram(), nil).CommandLine()
	eachCommand(app.Commands, "", func(name string, c *cli.Command) {
		printsJSON := slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") })
		name = strings.ReplaceAll(name, " ", "-")
		if name == "rerun" {
			name = "run" // they print the same
		}
		if printsJSON && schemas[name] == nil {
			t.Errorf("docs/schema has no %s.json", name)
		}
		if printsJSON && !checked[name] {
			t.Errorf("no script has a line `schema %s`", name)
		}
	})
}

// TestJSONNames: testdata/json-names.txt lists all names of JSON output with their schemas,
// and a name of common.json means the same everywhere. `make reference` writes the list.
func TestJSONNames(t *testing.T) {
	t.Parallel()
	schemas := readSchemas(t)
	users := map[string][]string{}
	for name, s := range schemas {
		s.walk(func(s *schema) {
			if s.Properties == nil {
				return
			}
			if string(s.AdditionalProperties) != "false" {
				t.Errorf("%s: an object of %v allows other names", name, s.names())
			}
			for key, p := range s.Properties {
				if !slices.Contains(users[key], name) {
					users[key] = append(users[key], name)
				}
				if schemas[commonSchema].Defs[key] != nil && schemas[commonSchema].Defs[key].Properties == nil && !p.refersTo(key) {
					t.Errorf("%s: %s is not that of common.json", name, key)
				}
			}
		})
	}
	var list strings.Builder
	for _, key := range slices.Sorted(maps.Keys(users)) {
		slices.Sort(users[key])
		list.WriteString(key + ": " + strings.Join(users[key], " ") + "\n")
	}
	const golden = "testdata/json-names.txt"
	if *updateReference {
		must(t, os.WriteFile(golden, []byte(list.String()), 0o600))
		return
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != list.String() {
		t.Errorf("%s is stale (%v): write it with `make reference`\n%s", golden, err, list.String())
	}
}
