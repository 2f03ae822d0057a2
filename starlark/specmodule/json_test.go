package specmodule

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

func TestJSONKeepsText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `true`, `0`, `-1`, `123456789012345678901234567890`, `1.5`, `1.0`, `"a\"\\\n<>&é😀"`, `[]`, `{}`,
		`{"z":1,"a":[{"y":null,"b":[[]]}],"m":{}}`,
	} {
		v, err := FromJSON([]byte(text))
		if err != nil {
			t.Errorf("FromJSON(%s): %v", text, err)
			continue
		}
		if got, err := ToJSON(v); err != nil || string(got) != text {
			t.Errorf("got %[2]s, %[3]v, want %[1]s", text, got, err)
		}
	}
}

func TestFromJSONErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``: "EOF", `{`: "EOF", `[1,]`: "invalid character", `{"a" 1}`: "invalid character", `1 2`: "text after the value", `tru`: "EOF",
		`{} x`: "text after the value", `1e999`: "range", strings.Repeat("[", 500): "nested deeper than 200 levels",
	} {
		if v, err := FromJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromJSON(%.40s) = %v, %v, want error %q", text, v, err, want)
		}
	}
}

func TestToJSONErrors(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		`{"a": [1, len]}`:    `in "a": at 1: builtin_function_or_method has no JSON form`,
		`{1: 1}`:             "dict has int key 1, want string",
		`float("inf")`:       "+inf has no JSON form",
		`["x" * (65 << 20)]`: "value is too large",
	} {
		if got, err := ToJSON(mustEval(t, expr)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ToJSON(%s) = %.60s, %v, want error %q", expr, got, err, want)
		}
	}
	cyclic := starlark.NewList(nil)
	if err := cyclic.Append(cyclic); err != nil {
		t.Fatal(err)
	}
	if _, err := ToJSON(cyclic); err == nil || !strings.Contains(err.Error(), "nested deeper than") {
		t.Errorf("ToJSON of a cycle: %v", err)
	}
}

func TestToJSONOfSpecs(t *testing.T) {
	t.Parallel()
	got, err := ToJSON(mustEval(t, `{"m": (specs.BindMount("/a", "/b"),)}`))
	if want := `{"m":[{"kind":"BindMount","src_path":"/a","dst_path":"/b","read_only":false}]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// FuzzJSON checks that FromJSON accepts what the standard decoder accepts, and that ToJSON writes
// the same value again.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x",null,true]}`, `[[[]]]`, `"\u00e9\ud800"`, `1e5`, `-0`, `{"a":1,"a":2}`, ` 1 `, `[1`, `{"":{}}`} {
		f.Add(s)
	}
	f.Add("[1" + strings.Repeat("0", 310) + "]")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := FromJSON([]byte(text))
		if err != nil {
			return
		}
		out, err := ToJSON(v)
		if err != nil {
			t.Fatalf("the value of %q cannot be encoded: %v", text, err)
		}
		var want, got any
		err = json.Unmarshal([]byte(text), &want)
		if tooLarge := new(json.UnmarshalTypeError); errors.As(err, &tooLarge) {
			return // an integer out of the range of float64
		}
		if err != nil {
			t.Fatalf("%q is not JSON: %v", text, err)
		}
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, %v, want the same value", text, out, err)
		}
	})
}
