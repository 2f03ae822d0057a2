package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"torchx/cmd/internal/manual"
	"torchx/cmd/internal/program"
)

// completions returns the words that the hidden command offers at the end of a line, without
// explanations.
func completions(t *testing.T, dir string, words ...string) []string {
	t.Helper()
	r := torchx(t, dir, nil, "", append([]string{manual.CompleteCommand, "torchx"}, words...)...)
	if r.code != program.ExitOK || r.err != "" {
		t.Errorf("%q: exit code %d, stderr %q", words, r.code, r.err)
	}
	var out []string
	for line := range strings.Lines(r.out) {
		value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out = append(out, value)
	}
	return out
}

// typedComponent has a parameter of each type other than str.
const typedComponent = `def f(*what, mode = "fast", modes = None, h = None, data = None, wait = 90, memory = 1 << 30, loud = False):
    """Does it.

    Args:
        *what (enum("x", "y")): what to do
        mode (enum("fast", "slow")): how
        modes (list[enum("fast", "slow")]): how else
        h (resource): on what
        data (path?): with what
        wait (duration): how long at most
        memory (bytesize): how much
        loud (bool): say more
    """
    return specs.AppDef(name = "f", roles = [specs.Role(
        name = "f",
        image = "",
        entrypoint = "echo",
        args = [mode, str(wait), str(memory), str(data)] + list(what) + (modes or []),
        resource = specs.resource(cpu = 1, h = h),
    )])
`

func TestComplete(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	must(t, os.MkdirAll(filepath.Join(dir, "components"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "components", "mine.star"), []byte("def go(n = 1):\n    \"\"\"Goes.\"\"\"\n    pass\n\ndef _no():\n    pass\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "one.star"), []byte("def a():\n    pass\n\ndef b(flag = False, file = \"\", x = 0):\n    pass\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "typed.star"), []byte(typedComponent), 0o600))
	for _, c := range []struct{ line, want string }{
		{"ru", "run runopts"},
		{"ru ", ""},
		{"nothing ", ""},
		{"--no", "--no-color"},
		{"--log_level=w", "--log_level=warning"},
		{"--log_level d", "debug"},
		{"completion ", "bash zsh fish"},
		{"component l", "list lint"},
		{"component lint --f", "--fix"},
		{"component nothing ", ""},
		{"component fmt --che", "--check"},
		{"component fmt ", ":files"},
		{"conf", "configure config"},
		{"completion bash ", ""},
		{"list --stat", "--state"},
		{"tracker ", "list"},
		{"tracker list ", "jobs metadata artifacts"},
		{"tracker list jobs --pa", "--parent-run-id"},
		{"list --state failed --stat", "--state"}, // may be given again
		{"list --state run", "running"},
		{"list --limit 3 --lim", ""},
		{"list --limit 3 --js", "--json"},
		{"run mine.", "mine.go"},
		{"run dist.dd", "dist.ddp"},
		{"run one", "one.star: :open"},
		{"run one.star:", "one.star:a one.star:b"},
		{"run compo", "components/ :open"},
		{"run components/", "components/mine.star: :open"},
		{"run --wor", "--workspace"},
		{"run --workspace ", ":folders"},
		{"run -b loc", "local local_docker"},
		{"run --scheduler=local_", "--scheduler=local_cwd --scheduler=local_dir --scheduler=local_docker"},
		{"run -cfg image", "image_type= :open"},
		{"run -cfg fail_fast=true,image_type=", "fail_fast=true,image_type=cwd fail_fast=true,image_type=dir"},
		{"run one.star:b --", "--flag --file --help"},
		{"run one.star:b -", "-x --flag --file --help"},
		{"run one.star:b --flag --", "--file --help"},
		{"run one.star:b --flag ", "true false"},
		{"run one.star:b ", "-x --flag --file --help"},
		{"run one.star:b -x ", ""},
		{"run typed.star:f --mode ", "fast slow"},
		{"run typed.star:f --mode s", "slow"},
		{"run typed.star:f --mode=", "--mode=fast --mode=slow"},
		{"run typed.star:f --modes fast,", "fast,fast fast,slow"},
		{"run typed.star:f --h gpu.s", "gpu.small"},
		{"run typed.star:f --data ", ":files"},
		{"run typed.star:f --data=", ":files"},
		{"run typed.star:f --wait ", ""},
		{"run typed.star:f --memory ", ""},
		{"run typed.star:f --loud ", "true false x y"},
		{"run typed.star:f --mode fast ", "x y"},
		{"run typed.star:f -- --", ""},
		{"run typed.star:f -- ", "x y"},
		{"run typed.star:f x --", ""},
		{"run one.star:b --file ", ":files"},
		{"run broken.star:x --", ""},
		{"run utils.sh -- --", ""},
		{"submit ", ":files"},
		{"config ", "explain trust"},
		{"config explain dist.dd", "dist.ddp"},
		{"config explain -b loc", "local local_docker"},
		{"runopts l", "local"},
		{"status ", ""}, // no history yet
	} {
		words := strings.Split(c.line, " ")
		got := completions(t, dir, words...)
		if want := strings.Fields(c.want); !sameWords(got, want) {
			t.Errorf("%q: %q, want %q", c.line, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "home")); err == nil {
		t.Error("completing has made TORCHX_HOME")
	}
}

func sameWords(got, want []string) bool {
	count := map[string]int{}
	for _, w := range got {
		count[w]++
	}
	for _, w := range want {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestCompleteHandles(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	ids := []string{}
	for _, args := range [][]string{{"run", "comps.star:two", "--first", "true", "--second", "true"}, {"run", "-d", "utils.sh", "sleep", "300"}} {
		r := torchx(t, dir, nil, "", args...)
		if r.code != program.ExitOK {
			t.Fatalf("%+v", r)
		}
		handle := strings.TrimSpace(r.out)
		ids = append(ids, handle[strings.LastIndexByte(handle, '/')+1:])
	}
	t.Cleanup(func() { torchx(t, dir, nil, "", "delete", "-f", ids[1]) })
	two, live := ids[0], ids[1]
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"status", ""}, []string{"-", live, two}},
		{[]string{"status", two[:3]}, []string{two}},
		{[]string{"status", "local:"}, []string{"local://torchx/" + two, "local://torchx/" + live}},
		{[]string{"status", two, ""}, []string{"-", live}},
		{[]string{"status", "-", "local://torchx/" + two, ""}, []string{live}},
		{[]string{"wait", live, ""}, []string{"-"}},
		{[]string{"tag", two, ""}, []string{"-", live}},
		{[]string{"tag", two, "k=v", ""}, nil},
		{[]string{"tracker", "list", "jobs", ""}, nil},
		{[]string{"tracker", "list", "metadata", live[:3]}, []string{live}},
		{[]string{"delete", ""}, []string{"-", two}},
		{[]string{"delete", "-f", two, ""}, []string{"-", live}},
		{[]string{"cancel", ""}, []string{"-", live}},
		{[]string{"log", two + "/"}, []string{two + "/a", two + "/b"}},
		{[]string{"log", "local://torchx/" + two + "/a"}, []string{"local://torchx/" + two + "/a"}},
		{[]string{"log", two + "/a/"}, []string{two + "/a/0"}},
		{[]string{"status", two, "--roles", "a,"}, []string{"a,a", "a,b"}},
		{[]string{"rerun", two[:3]}, []string{two}},
		{[]string{"rerun", "--rec"}, []string{"--recorded"}},
		{[]string{"rerun", two, "--s"}, []string{"--second"}},
		{[]string{"rerun", "-", "--num"}, []string{"--num_replicas"}},
		{[]string{"sweep", "res"}, []string{"resume"}},
		{[]string{"sweep", "--gr"}, []string{"--grid"}},
		{[]string{"sweep", "--goal", ""}, []string{"min", "max"}},
		{[]string{"sweep", "--early-stop=me"}, []string{"--early-stop=median"}},
		{[]string{"sweep", "--repeat", "2", "utils.echo", "--num"}, []string{"--num_replicas"}},
		{[]string{"sweep", "resume", two[:3]}, []string{two}},
		{[]string{"rerun", "nothing", "--"}, nil},
	} {
		if got := completions(t, dir, c.words...); !reflect.DeepEqual(got, c.want) && !sameWords(got, c.want) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}

func TestCompleteOutputs(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	if r := torchx(t, dir, nil, "", "run", "utils.sh", "-c", "cd \"$TORCHX_OUTPUT\" && mkdir d && echo 1 >d/f && echo 2 >a && echo 3 >'b c'"); r.code != program.ExitOK {
		t.Fatalf("%+v", r)
	}
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"output", "g"}, []string{"get"}},
		{[]string{"output", "get", "-", ""}, []string{".", "a", "b c", "d/", ":open"}},
		{[]string{"output", "get", "-", "a", "d/"}, []string{"d/f"}},
		{[]string{"output", "get", "-", "../"}, nil},
		{[]string{"output", "get", "nothing", ""}, nil},
		{[]string{"output", "-", ""}, nil},
	} {
		if got := completions(t, dir, c.words...); !sameWords(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
		}
	}
}

// TestCompleteIsFast: the user waits at each Tab. The bound is generous, because tests run
// in parallel.
func TestCompleteIsFast(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	best := time.Hour
	for range 5 {
		started := time.Now()
		completions(t, dir, "run", "dist.ddp", "--")
		best = min(best, time.Since(started))
	}
	if best > 300*time.Millisecond {
		t.Errorf("got %v, which is too slow", best)
	}
}
