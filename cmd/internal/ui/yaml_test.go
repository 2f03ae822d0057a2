package ui

import (
	"encoding/json"
	"testing"
)

func TestYAMLText(t *testing.T) {
	t.Parallel()
	in := json.RawMessage(`{"name":"a b","n":1.50,"none":null,"ok":true,"yes":"no","e":{},"l":[],
		"args":["x","-c",["deep"],{"k":"/v","z":"\u001b[2J\u009b"}],"m":{"b":"1","a":"<ü>"}}`)
	want := `name: "a b"
"n": 1.50
none: null
ok: true
"yes": "no"
e: {}
l: []
args:
  - x
  - "-c"
  - - deep
  - k: /v
    z: "\x1b[2J\u009b"
m:
  b: "1"
  a: "<ü>"
`
	got, err := yamlText(in)
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	for in, want := range map[string]string{`"x"`: "x\n", `[]`: "[]\n", `["a"]`: "- a\n"} {
		if got, err := yamlText(json.RawMessage(in)); err != nil || got != want {
			t.Errorf("%s: got %q, %v", in, got, err)
		}
	}
}

// documents is a request with two manifests.
type documents struct{}

func (documents) Manifests() []any {
	return []any{map[string]string{"kind": "Job"}, map[string]string{"kind": "Service"}}
}

func TestRequestOfManifests(t *testing.T) {
	t.Parallel()
	c := NewConsole(Streams{})
	c.ShowSecrets = true
	got, err := c.RequestYAML(documents{})
	if want := "kind: Job\n---\nkind: Service\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
