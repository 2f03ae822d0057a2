package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/test/slurmtest"
)

// docsRoot is the root of the project.
const docsRoot = "../.."

// consoleTime bounds one command of a page.
const consoleTime = time.Minute

// TestConsoleBlocks runs the `console` blocks of README and docs, each page in its own folder
// and home, and compares the output. In a page,
//
//	<!-- file: train.star -->       writes the next block to that file
//	<!-- not run: needs a cluster --> leaves the next console block out, with the reason
//	<!-- needs slurm -->            leaves it out without TORCHX_REQUIRE=slurm
//	<!-- needs python3 -->          leaves it out without python3
//
// A line `...` matches any lines. IDs, times, durations, ports and the order of lines, which
// varies with several replicas, are ignored.
func TestConsoleBlocks(t *testing.T) {
	t.Parallel()
	for _, page := range docPages(t) {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(docsRoot, page))
			if err != nil {
				t.Fatal(err)
			}
			runPage(t, string(data))
		})
	}
}

// docPages returns the pages that may have console blocks.
func docPages(t *testing.T) (pages []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(docsRoot, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			path, err = filepath.Rel(docsRoot, path)
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(pages, "README.md")
}

// block is a fenced block of a page.
type block struct {
	line     int    // of its first line of text
	language string // after the fence
	note     string // of the comment above
	text     string
}

var comment = regexp.MustCompile(`^<!-- (.*) -->$`)

// blocks returns the fenced blocks of a page.
func blocks(page string) (all []block) {
	note, open := "", false
	number := 0
	for line := range strings.Lines(page) {
		number++
		text := strings.TrimRight(line, "\n")
		language, isFence := strings.CutPrefix(text, "```")
		switch {
		case isFence && !open:
			all = append(all, block{line: number + 1, language: language, note: note})
			open = true
		case isFence:
			note, open = "", false
		case open:
			all[len(all)-1].text += line
		case strings.TrimSpace(text) != "":
			note = ""
			if m := comment.FindStringSubmatch(text); m != nil {
				note = m[1]
			}
		}
	}
	return all
}

func runPage(t *testing.T, page string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "docs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // an agent may still write after its app has ended
		for deadline := time.Now().Add(consoleTime); os.RemoveAll(dir) != nil && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	})
	home := filepath.Join(dir, "you")
	work := filepath.Join(home, "project")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+home, "TORCHX_HOME="+filepath.Join(home, ".torchx"), "TORCHXCONFIG=", "NO_COLOR=1", "COLUMNS=80",
		"PYTHONPATH="+absolute(t, pythonClient), "PYTHONDONTWRITEBYTECODE=1")
	for _, b := range blocks(page) {
		file, isFile := strings.CutPrefix(b.note, "file: ")
		switch {
		case isFile:
			path := filepath.Join(work, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		case b.language != "console" || strings.HasPrefix(b.note, "not run: "):
		case b.note == "needs slurm" && !slurmtest.Required():
		case b.note == "needs python3" && !hasPython(t):
		default:
			code := 0
			for _, c := range commands(b) {
				c.text = fmt.Sprintf("(exit %d)\n%s", code, c.text) // for $?
				code = c.run(t, work, home, env)
			}
		}
	}
}

// absolute returns a path that holds in any folder.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command is a command of a console block with its expected output.
type command struct {
	line       int
	text, want string
}

// commands splits a block at its prompts.
func commands(b block) (all []command) {
	number := b.line - 1
	for line := range strings.Lines(b.text) {
		number++
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: number, text: text})
		} else if len(all) > 0 {
			all[len(all)-1].want += line
		}
	}
	return all
}

// run runs the command and returns its exit code.
func (c command) run(t *testing.T, work, home string, env []string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), consoleTime)
	defer cancel()
	want := comparable(c.want)
	for {
		cmd := exec.CommandContext(ctx, "bash", "-c", c.text)
		cmd.Dir, cmd.Env = work, env
		out, _ := cmd.CombinedOutput() // the output tells how it ended
		got := comparable(strings.ReplaceAll(string(out), home, "/home/you"))
		if matches(want, got) {
			return cmd.ProcessState.ExitCode()
		}
		if !readsState.MatchString(c.text) || ctx.Err() != nil {
			t.Fatalf("line %d: $ %sprinted\n%s\nwant\n%s", c.line, c.text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// readsState matches commands that only read the state of an app; they are repeated until the app
// reaches the expected state.
var readsState = regexp.MustCompile(`(?m)^torchx (log|list|status|events|usage) `)

// variable lists the parts of output that differ from run to run.
var variable = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z| \d\d:\d\d(:\d\d \S+)?)`), "TIME"},
	{regexp.MustCompile(`\b\d+:\d\d\b`), "DURATION"},
	{regexp.MustCompile(`\b\d+\.\d\d s\b`), "CPU"},
	{regexp.MustCompile(`-[0-9bcdfghjklmnpqrstvwxz]{10,15}\b`), "-ID"},
	{regexp.MustCompile(`(just now|\b\d+(\.\d+)?(ms|µs|[smhd])( ago)?\b)`), "DURATION"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ([KMG]iB|MB)\b`), "SIZE"},
	{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
	{regexp.MustCompile(` +`), " "},
}

// comparable returns the lines of a text with variable parts replaced.
func comparable(text string) (lines []string) {
	for _, v := range variable {
		text = v.pattern.ReplaceAllString(text, v.name)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// matches reports whether both have the same lines in any order or, if want has `...`, got
// contains the other lines of want.
func matches(want, got []string) bool {
	isAny := func(line string) bool { return line == "..." }
	hasAny := slices.ContainsFunc(want, isAny)
	rest := slices.Clone(got)
	for _, line := range slices.DeleteFunc(slices.Clone(want), isAny) {
		i := slices.Index(rest, line)
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return hasAny || len(rest) == 0
}

// TestConsoleMatching: comparisons that match and that do not.
func TestConsoleMatching(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		want, got string
		same      bool
	}{
		{"local://torchx/echo-th47sz9fbtvlqc\n", "local://torchx/echo-bn9bbpmgf7g3l\n", true},
		{"a\nb\n", "b\na\n", true},
		{"a\n...\n", "b\na\n", true},
		{"SUCCEEDED after 21ms", "SUCCEEDED after 1.2s", true},
		{"1  SUCCEEDED  0:00", "1 SUCCEEDED 0:02", true},
		{"a\n", "a\na\n", false},
		{"a\n...\n", "b\n", false},
		{"", "a\n", false},
		{"exit code 3", "exit code 4", false},
	} {
		if got := matches(comparable(c.want), comparable(c.got)); got != c.same {
			t.Errorf("%d: %q and %q are the same: got %v, want %v", i, c.want, c.got, got, c.same)
		}
	}
	if got := fmt.Sprint(blocks("a\n<!-- file: x -->\n```python\nx\n```\n\n```console\n$ y\n```\n")); got != "[{4 python file: x x\n} {8 console  $ y\n}]" {
		t.Errorf("blocks: got %s", got)
	}
}
