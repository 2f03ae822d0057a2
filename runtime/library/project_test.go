package library

import (
	"slices"
	"strings"
	"testing"
)

const sample = `# Ours.
lib acme https://github.com/acme/components.git v1.2.0  # the newest
lib tools "./my tools"

lib infra ssh://git@example.com:22/infra.git 0123abcd path=torchx/lib
replace acme ../acme
`

func TestParseProject(t *testing.T) {
	t.Parallel()
	p, err := ParseProject("torchx.libs", []byte("\uFEFF"+strings.ReplaceAll(sample, "\n", "\r\n")))
	must(t, err)
	want := []Library{
		{Name: "acme", URL: "https://github.com/acme/components.git", Revision: "v1.2.0", Line: 2},
		{Name: "tools", Folder: "./my tools", Line: 3},
		{Name: "infra", URL: "ssh://git@example.com:22/infra.git", Revision: "0123abcd", Path: "torchx/lib", Line: 5},
	}
	if !slices.Equal(p.Libraries, want) || !slices.Equal(p.Replaced, []Replacement{{"acme", "../acme", 6}}) {
		t.Errorf("got %+v, %+v, want the sample", p.Libraries, p.Replaced)
	}
	if got := string(p.Text()); got != sample {
		t.Errorf("got text %q, want %q", got, sample)
	}
}

func TestEditKeepsOtherLines(t *testing.T) {
	t.Parallel()
	p, err := ParseProject("torchx.libs", []byte(sample))
	must(t, err)
	must(t, p.Set(Library{Name: "acme", URL: "https://github.com/acme/components.git", Revision: "v2"}))
	must(t, p.Set(Library{Name: "new", Folder: "../a b"}))
	must(t, p.Unreplace("acme"))
	must(t, p.SetReplacement("new", "./n#1"))
	must(t, p.Remove("infra"))
	want := `# Ours.
lib acme https://github.com/acme/components.git v2 # the newest
lib tools "./my tools"

lib new "../a b"
replace new "./n#1"
`
	if got := string(p.Text()); got != want {
		t.Errorf("got text %q, want %q", got, want)
	}
	if p.Set(Library{Name: "-x", Folder: "./x"}) == nil || p.Set(Library{Name: "ACME", Folder: "./x"}) == nil {
		t.Error("invalid lines: got nil, want errors")
	}
	if got := string(p.Text()); got != want {
		t.Errorf("after an invalid change: got %q, want it unchanged", got)
	}
}

func TestParseProjectRefuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"lib":                                  "expected `lib NAME URL REVISION`",
		"lib acme":                             "expected `lib NAME URL REVISION`",
		"library acme ./x":                     `"library" is not a lib or replace line`,
		"<<<<<<< HEAD":                         "contains a merge conflict",
		"lib acme https://h/r":                 "has no revision",
		"lib acme https://h/r v1 v2":           `unexpected "v2"`,
		"lib acme https://h/r v1 path=../x":    "leads out of the library",
		"lib acme https://h/r v1 path=-x":      "starts with -",
		"lib acme https://h/r v1 path=/etc":    "leads out of the library",
		"lib acme https://h/r -x":              `revision "-x" starts with -`,
		"lib acme https://h/r --upload-pack=x": `revision "--upload-pack=x" starts with -`,
		"lib acme --upload-pack=x v1":          `URL "--upload-pack=x" starts with -`,
		"lib acme --upload-pack=x":             `folder "--upload-pack=x" starts with -`,
		"lib acme \"https://h/r\\n\" v1":       "control characters",
		"lib acme https://h/r \"a\\x1b\"":      "control characters",
		"lib acme https://h/r a..b":            "is not a valid branch, tag or commit",
		"lib acme ext::sh -c":                  `not by "ext"`,
		"lib acme ext://sh v1":                 "https, ssh or file",
		"lib acme http://h/r v1":               `not by "http"`,
		"lib acme git://h/r v1":                `not by "git"`,
		"lib acme HTTPS://h/r v1":              `not by "HTTPS"`,
		"lib acme git@github.com:a/b.git v1":   "write it as ssh://git@github.com/a/b.git",
		"lib acme git@github.com:a/b.git":      "has no revision",
		"lib acme host/x v1":                   "write https://HOST/PATH",
		"lib acme ssh://-oProxyCommand=x/r v1": "could be taken for an option",
		"lib acme ssh://-x@h/r v1":             "could be taken for an option",
		"lib acme https://u:secret@h/r v1":     "contains a password",
		"lib acme https:///r v1":               "has no host",
		"lib acme https://h v1":                "has no repository",
		"lib acme file://h/r v1":               "has no host: write file:///PATH",
		"lib acme https://h/a%0ab v1":          "control characters",
		"lib acme https://h/r?x=1 v1":          "contains a space",
		"lib -x ./x":                           `library name "-x"`,
		"lib .x ./x":                           `library name ".x"`,
		"lib a/b ./x":                          `library name "a/b"`,
		"lib torchx ./x":                       "is the name of the built-in library",
		"lib x dir":                            "write ./dir",
		"lib x \"./a":                          `a " is missing`,
		"lib x \"./a\"b":                       `a space is missing`,
		"lib x ./a\"b":                         `a " is allowed only`,
		"replace x":                            "expected `replace NAME FOLDER`",
		"replace x ./y":                        "no lib line lists x",
		"lib x ./y\xff":                        "not a text file",
		"lib x ./y\x00":                        "not a text file",
	} {
		_, err := ParseProject("torchx.libs", []byte("# c\n"+line+"\n"))
		wantError(t, err, "torchx.libs:2: ", want)
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("got %q, want it without the password", err)
		}
	}
	_, err := ParseProject("f", []byte("lib a ./x\nlib A ./y\n"))
	wantError(t, err, "f:2: library A is already listed, as a in line 1")
	_, err = ParseProject("f", []byte("lib a ./x\nreplace a ./y\nreplace a ./z\n"))
	wantError(t, err, "f:3: library a is already replaced, in line 2")
	_, err = ParseProject("f", []byte(strings.Repeat("# x\n", maxProject/4+1)))
	wantError(t, err, "f: is over")
}
