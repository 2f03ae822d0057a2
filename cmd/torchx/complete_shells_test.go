package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// toolPath returns the path of a program. Without it, toolPath skips the test, or fails it if
// TORCHX_REQUIRE names the program.
func toolPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	for part := range strings.SplitSeq(os.Getenv("TORCHX_REQUIRE"), ",") {
		if part == name {
			t.Fatal(err)
		}
	}
	t.Skip(err)
	return ""
}

// shellDir returns a folder with the completion script of a shell, a component with typed
// arguments, and a file.
func shellDir(t *testing.T, shell string) string {
	t.Helper()
	dir := caseDir(t)
	script := torchx(t, dir, nil, "", "completion", shell).out
	must(t, os.WriteFile(filepath.Join(dir, "torchx."+shell), []byte(script), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "typed.star"), []byte(typedComponent), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "a plan.json"), nil, 0o600))
	return dir
}

// inShell runs a script in a shell, in dir, and returns its output.
func inShell(t *testing.T, dir, path string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TORCHX_HOME="+filepath.Join(dir, "home"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "TERM=xterm")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// TestBashCompletion runs the script in a real bash, with words split as readline splits
// them.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
	bash := toolPath(t, "bash")
	dir := shellDir(t, "bash")
	for _, c := range []struct {
		words string // a bash array
		line  string
		want  string
	}{
		{"torchx runo", "torchx runo", "runopts"},
		{"torchx run dist.d", "torchx  run dist.d", "dist.ddp"},
		{"torchx run -b loc", "torchx run -b loc", "local\nlocal_docker"},
		{"torchx list --state = fai", "torchx list --state=fai", "failed"},
		{"torchx run --scheduler = local_c", "torchx run --scheduler=local_c", "local_cwd"},
		{"torchx run comps.star : tw", "torchx run comps.star:tw", "two"},
		{"torchx run comps.star :", "torchx run comps.star:", ""},
		{"torchx run -cfg image_type = c", "torchx run -cfg image_type=c", "cwd"},
		{"torchx submit a", "torchx submit a", "a plan.json"},
		{"torchx ru", "torchx ru --behind", "run\nrunopts"},
		{"torchx run typed.star : f --mo", "torchx run typed.star:f --mo", "--mode\n--modes"},
		{"torchx run typed.star : f --mode ''", "torchx run typed.star:f --mode ", "fast\nslow"},
		{"torchx run typed.star : f --mode = s", "torchx run typed.star:f --mode=s", "slow"},
		{"torchx run typed.star : f --modes fast,s", "torchx run typed.star:f --modes fast,s", "fast,slow"},
		{"torchx run typed.star : f -h gpu.s", "torchx run typed.star:f -h gpu.s", "gpu.small"},
		{"torchx run typed.star : f --data = a", "torchx run typed.star:f --data=a", "a plan.json"},
		{"torchx run typed.star : f --data a", "torchx run typed.star:f --data a", "a plan.json"},
	} {
		line := strings.TrimSuffix(c.line, " --behind")
		got := inShell(t, dir, bash, "--norc", "-c", `source ./torchx.bash
COMP_WORDS=(`+c.words+`) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=$2
_torchx; printf '%s\n' "${COMPREPLY[@]}"`, "bash", c.line, strconv.Itoa(len(line)))
		if c.want == "" { // all files
			if !strings.Contains(got, "two") || strings.Contains(got, ":") {
				t.Errorf("%s: %q", c.line, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestFishCompletion compares what a real fish offers.
func TestFishCompletion(t *testing.T) {
	t.Parallel()
	fish := toolPath(t, "fish")
	dir := shellDir(t, "fish")
	for line, want := range map[string]string{
		"torchx runo":                              "runopts\tlist the options of backends",
		"torchx run dist.d":                        "dist.ddp\tSingle",
		"torchx run typed.star:f --mode ":          "fast\nslow",
		"torchx run typed.star:f --mode=s":         "--mode=slow",
		"torchx run typed.star:f --modes fast,s":   "fast,slow",
		"torchx run typed.star:f -h gpu.s":         "gpu.small",
		"torchx run typed.star:f --data a\\ p":     "a plan.json",
		"torchx run typed.star:f --data=a\\ p":     "--data=a plan.json",
		"torchx run typed.star:f --mode fast -- x": "x",
	} {
		got := inShell(t, dir, fish, "--no-config", "-c", `source ./torchx.fish; complete -C $argv[1]`, line)
		if !strings.HasPrefix(got, strings.SplitN(want, "\t", 2)[0]) || !strings.Contains(got, want) && !strings.Contains(want, "\t") {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// zshDriver types lines, each followed by a Tab, into an interactive zsh, and prints the
// completed lines. A widget runs after each Tab, when the line is complete.
const zshDriver = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'autoload -U compinit; compinit -u -D; source ./torchx.zsh; setopt menucomplete
show() { print -r -- "$BUFFER" >> ./lines; BUFFER= }
zle -N show; bindkey "^O" show; zle -N leave; leave() { exit }; bindkey "^Y" leave'
for line; do zpty -w -n z "$line"$'\t\x0f'; done
zpty -w -n z $'\x19'
while zpty -r z out; do :; done
cat ./lines
`

// TestZshCompletion types Tab in a real zsh.
func TestZshCompletion(t *testing.T) {
	t.Parallel()
	zsh := toolPath(t, "zsh")
	dir := shellDir(t, "zsh")
	lines := [][2]string{
		{"torchx runo", "torchx runopts"},
		{"torchx run dist.d", "torchx run dist.ddp"},
		{"torchx run typed.star:f --mode ", "torchx run typed.star:f --mode fast"},
		{"torchx run typed.star:f --mode=s", "torchx run typed.star:f --mode=slow"},
		{"torchx run typed.star:f --modes fast,s", "torchx run typed.star:f --modes fast,slow"},
		{"torchx run typed.star:f -h gpu.s", "torchx run typed.star:f -h gpu.small"},
		{"torchx run typed.star:f --data a", `torchx run typed.star:f --data a\ plan.json`},
		{"torchx run typed.star:f --data=a", `torchx run typed.star:f --data=a\ plan.json`},
	}
	args := []string{"-f", "-c", zshDriver, "zsh"}
	for _, l := range lines {
		args = append(args, l[0])
	}
	got := strings.Split(inShell(t, dir, zsh, args...), "\n")
	for i, l := range lines {
		if i >= len(got) || strings.TrimRight(got[i], " ") != l[1] {
			t.Errorf("%s: %q, want %q", l[0], got[min(i, len(got)-1):], l[1])
		}
	}
}
