package component

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseDoc(t *testing.T) {
	t.Parallel()
	doc := `Echoes a message
    to stdout.

    Usage:
        torchx run utils.echo

    Args:
        msg (str): the message
            on two lines: really
        image: the image
        *rest (int): the others
        opts (Optional[dict[str, int]]): more (in parentheses)
        spaced  (int, optional) :  odd

        last(float): after a blank line
    Returns:
        an app

    Afterword.
    `
	got := ParseDoc(doc)
	wantText := "Echoes a message\nto stdout.\n\nUsage:\n    torchx run utils.echo\n\nAfterword."
	if got.Text != wantText {
		t.Errorf("text %q, want %q", got.Text, wantText)
	}
	want := []DocArg{
		{"msg", "str", "the message on two lines: really", 7},
		{"image", "", "the image", 9},
		{"rest", "int", "the others", 10},
		{"opts", "Optional[dict[str, int]]", "more (in parentheses)", 11},
		{"spaced", "int, optional", "odd", 12},
		{"last", "float", "after a blank line", 14},
	}
	if !reflect.DeepEqual(got.Args, want) {
		t.Errorf("args %v\nwant %v", got.Args, want)
	}
}

func TestParseDocShapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, doc, text string
		args            []DocArg
	}{
		{"empty", "", "", nil},
		{"one line", "Does it.", "Does it.", nil},
		{"args in the first line", "Args:\n    a (int): x\n    b: y\n", "", []DocArg{{"a", "int", "x", 1}, {"b", "", "y", 2}}},
		{"tabs", "Does it.\n\n\tArgs:\n\t\ta (int): x\n\t\t\ty\n", "Does it.", []DocArg{{"a", "int", "x y", 3}}},
		{"crlf", "Does it.\r\n\r\n  Args:\r\n    a (int): x\r\n", "Does it.", []DocArg{{"a", "int", "x", 3}}},
		{"not an entry", "Does it.\n\nArgs:\n  nothing here\n  a: x\n  of note\n", "Does it.", []DocArg{{"a", "", "x of note", 4}}},
		{"no section", "Call it with\nArgs: a and b", "Call it with\nArgs: a and b", nil},
		{"first entry is indented more", "D.\n\nArgs:\n      a: x\n    b: y\n", "D.", []DocArg{{"a", "", "x", 3}, {"b", "", "y", 4}}},
	}
	for _, test := range tests {
		got := ParseDoc(test.doc)
		if got.Text != test.text || !reflect.DeepEqual(got.Args, test.args) {
			t.Errorf("%s: text %q args %v, want %q %v", test.name, got.Text, got.Args, test.text, test.args)
		}
	}
}

// FuzzDocstring checks what the rest of the package relies on: names are
// identifiers, help is one line, line numbers lie within the text.
func FuzzDocstring(f *testing.F) {
	f.Add("Echoes.\n\n    Args:\n        msg (str): the message\n            more\n")
	f.Add("Args:\n\ta (list[int]: x\n\t*b: y")
	f.Add("A\n Returns:\n  x\n Args:\n")
	f.Fuzz(func(t *testing.T, doc string) {
		lines := strings.Count(doc, "\n") + 1
		for _, arg := range ParseDoc(doc).Args {
			name := arg.Name
			if name == "" || strings.ContainsAny(name, " *():\n") {
				t.Fatalf("%q: argument name %q", doc, name)
			}
			if strings.ContainsAny(arg.Help, "\n\r") || strings.Contains(arg.Type, "\n") {
				t.Fatalf("%q: %s: several lines: %v", doc, name, arg)
			}
			if arg.Line < 0 || arg.Line >= lines {
				t.Fatalf("%q: %s: line %d of %d", doc, name, arg.Line, lines)
			}
			if parsed, err := ParseType(arg.Type); err == nil {
				if again, err := ParseType(parsed.String()); parsed.Kind != Unset && (err != nil || again.Kind != parsed.Kind) {
					t.Fatalf("type %q is written %q, read again: %v, %v", arg.Type, parsed, again, err)
				}
			}
		}
	})
}
