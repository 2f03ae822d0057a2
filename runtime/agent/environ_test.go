package agent

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestEnvironKeepsBytes(t *testing.T) {
	t.Parallel()
	want := Environ{"A=b", "LATIN=caf\xe9", "EMPTY=", "U=é"}
	data, err := json.Marshal(Manifest{Environ: want})
	if err != nil {
		t.Fatal(err)
	}
	var got Manifest
	if err := json.Unmarshal(data, &got); err != nil || !slices.Equal(got.Environ, want) {
		t.Errorf("%q, %v, from %s", got.Environ, err, data)
	}
	for _, bad := range []string{`[1]`, `[["!"]]`, `{}`} {
		if err := new(Environ).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
