package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/test/homedir"
)

// drive is text that would clear a screen, ring the bell and reverse the text direction.
const drive = "\x1b[2J\x1b]0;title\a\u009b31m\u202e\r"

// undriven checks that no text contains control characters of a terminal.
func undriven(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, bad := range []string{"\x1b", "\a", "\r", "\u009b", "\u202e"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q in %q", what, bad, text)
			}
		}
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestTypedTextCannotDriveTheTerminal: messages repeat typed text and text of files without
// control characters.
func TestTypedTextCannotDriveTheTerminal(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	for name, text := range map[string]string{
		"fails.star":             "def c():\n    fail(\"" + drive + "\")\n",
		"syntax.star":            "def c(:\n    \"" + drive + "\"\n",
		"prints.star":            "print(\"" + drive + "\")\ndef c():\n    return 1\n",
		"role.star":              "def c():\n    return specs.AppDef(name = \"a\", roles = [specs.Role(name = \"" + drive + "\", image = \"i\", entrypoint = \"true\")])\n",
		"app.star":               "def c():\n    return specs.AppDef(name = \"" + drive + "\", roles = [specs.Role(name = \"r\", image = \"i\", entrypoint = \"true\")])\n",
		"file" + drive + ".star": "def c():\n    return 1\n",
		"plan.json":              `{"app": {"name": "\u001b[2J", "roles": [{"name": "\u001b[2J"}]}, "cfg": {}, "request": {"app_id": "\u001b[2J"}}`,
		"driven":                 "[local" + drive + "]\nlog_dir = x\n[cli:run]\nscheduler = " + strings.TrimRight(drive, "\r") + "\n",
	} {
		text = strings.ReplaceAll(text, "\r", "")
		writeText(t, filepath.Join(dir, name), text)
	}
	for _, args := range [][]string{
		{drive},
		{"--" + drive},
		{"status", drive},
		{"status", "local://torchx/" + drive},
		{"log", "x/" + drive},
		{"log", "--regex", "(" + drive, "x"},
		{"list", "--state", drive},
		{"list", "-b", drive},
		{"list", "--since", drive},
		{"runopts", drive},
		{"builtins", "--print", drive},
		{"submit", drive},
		{"submit", "plan.json"},
		{"describe", drive},
		{"wait", drive},
		{"cancel", drive},
		{"delete", drive, drive},
		{"run", drive},
		{"run", drive + ".star:c"},
		{"run", "comps.star:" + drive},
		{"run", "--env", drive, "utils.echo"},
		{"run", "-cfg", drive, "utils.echo"},
		{"run", "-cfg", "log_dir" + drive + "=1,grace_period=" + drive, "utils.echo"},
		{"run", "utils.echo", "--" + drive},
		{"run", "comps.star:types", "--i", drive},
		{"run", "fails.star:c"},
		{"run", "syntax.star:c"},
		{"run", "prints.star:c"},
		{"run", "role.star:c"},
		{"run", "app.star:c"},
		{"run", "file" + drive + ".star:c"},
	} {
		got := torchx(t, dir, nil, "", args...)
		if got.code == program.ExitOK {
			t.Errorf("%q: exit code 0", args)
		}
		undriven(t, strings.Join(args, " "), got.out, got.err)
	}
	got := torchx(t, dir, []string{"TORCHXCONFIG=driven"}, "", "run", "utils.echo")
	undriven(t, "configuration", got.out, got.err)
	got = torchx(t, dir, []string{"LOGLEVEL=" + drive}, "", "list")
	undriven(t, "level", got.out, got.err)
}

// escapingComponent has control characters wherever they are allowed.
const escapingComponent = `
def c(msg = "\x1b[2J\a"):
    """Does \x1b[2Jthings\a

    Args:
        msg: a \x1b[2Jmessage
    """
    return specs.AppDef(name = "a", metadata = {"\x1b[2Jk": "\x1b[2Jv"}, roles = [specs.Role(
        name = "r\u200b", image = "i\x1b[2J", entrypoint = "sh", env = {"E": "\x1b[2J\a"}, args = ["-c",
        "echo '{\"message\": {\"message\": \"\\u001b[2Jbad\\u0007\", \"extraInfo\": {\"timestamp\": \"1\"}}}' > $TORCHELASTIC_ERROR_FILE; echo out; exit 3", msg])])
`

// TestAppsCannotDriveTheTerminal: control characters in an app are escaped everywhere, and
// its JSON is exact.
func TestAppsCannotDriveTheTerminal(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	writeText(t, filepath.Join(dir, "e.star"), escapingComponent)
	for _, args := range [][]string{
		{"run", "e.star:c", "--help"},
		{"run", "--dryrun", "e.star:c"},
		{"run", "e.star:c"},
		{"status", "-"},
		{"list"},
		{"describe", "-"},
		{"log", "-"},
		{"log", "-", "--regex", "o", "--timestamps"},
		{"wait", "-"},
		{"cancel", "-"},
		{"status", "-", "--roles", "\x1b[2J"},
		{"log", "-/nothing\x1b[2J"},
	} {
		got := torchx(t, dir, nil, "", args...)
		undriven(t, strings.Join(args, " "), got.out, got.err)
	}
	if got := torchx(t, dir, nil, "", "status", "-"); !strings.Contains(got.out, `\x1b[2Jbad\a`) {
		t.Errorf("the error file is not printed: %s", got.out)
	}
	got := torchx(t, dir, nil, "", "describe", "-", "--json")
	for _, want := range []string{`"E": "\u001b[2J\u0007"`, `\u001b[2Jk`} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %s in %s", want, got.out)
		}
	}
	if got := torchx(t, dir, nil, "", "log", "-", "--json"); !strings.Contains(got.out, "\"role\":\"r\u200b\"") {
		t.Errorf("the JSON of a line is not exact: %s", got.out)
	}
	torchx(t, dir, nil, "", "delete", "-f", "-")
}

// TestCleanStyled: help keeps its own colors and no other control characters.
func TestCleanStyled(t *testing.T) {
	t.Parallel()
	in := "\x1b[1mUsage:\x1b[0m a\x1b[2J\n\x1b[32m--b\x1b[0m \a\x1b[31m"
	want := "\x1b[1mUsage:\x1b[0m a\\x1b[2J\n\x1b[32m--b\x1b[0m \\a\\x1b[31m"
	if got := ui.CleanStyled(in); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
