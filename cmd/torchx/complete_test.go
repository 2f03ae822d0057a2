package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// completions are the words that the hidden command offers for a line, the last
// one being at the cursor; explanations are left out.
func completions(t *testing.T, dir string, words ...string) []string {
	t.Helper()
	r := torchx(t, dir, nil, "", append([]string{completeCommand, "torchx"}, words...)...)
	if r.code != exitOK || r.err != "" {
		t.Errorf("%q: exit code %d, stderr %q", words, r.code, r.err)
	}
	var out []string
	for line := range strings.Lines(r.out) {
		value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out = append(out, value)
	}
	return out
}

func TestComplete(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	must(t, os.MkdirAll(filepath.Join(dir, "components"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "components", "mine.star"), []byte("def go(n = 1):\n    \"\"\"Goes.\"\"\"\n    pass\n\ndef _no():\n    pass\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "one.star"), []byte("def a():\n    pass\n\ndef b(flag = False, file = \"\", x = 0):\n    pass\n"), 0o600))
	for _, c := range []struct{ line, want string }{
		{"ru", "run runopts"},
		{"ru ", ""},
		{"nothing ", ""},
		{"--no", "--no-color"},
		{"--log_level=w", "--log_level=warning"},
		{"--log_level d", "debug"},
		{"completion ", "bash zsh fish"},
		{"conf", "configure config"},
		{"completion bash ", ""},
		{"list --stat", "--state"},
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
		{"run one.star:b --flag ", "True False :files"},
		{"run one.star:b --file ", ":files"},
		{"run broken.star:x --", ""},
		{"run utils.sh -- --", ""},
		{"submit ", ":files"},
		{"config ", "explain"},
		{"config explain dist.dd", "dist.ddp"},
		{"config explain -b loc", "local local_docker"},
		{"runopts l", "local"},
		{"status ", ""}, // there is no history yet
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
		if r.code != exitOK {
			t.Fatalf("%+v", r)
		}
		handle := strings.TrimSpace(r.out)
		ids = append(ids, handle[strings.LastIndexByte(handle, '/')+1:])
	}
	t.Cleanup(func() { torchx(t, dir, nil, "", "delete", ids[1]) })
	two, live := ids[0], ids[1]
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"status", ""}, []string{"-", live, two}},
		{[]string{"status", two[:3]}, []string{two}},
		{[]string{"status", "local:"}, []string{"local://torchx/" + two, "local://torchx/" + live}},
		{[]string{"status", two, ""}, nil},
		{[]string{"delete", two, ""}, []string{"-", live}},
		{[]string{"cancel", ""}, []string{"-", live}},
		{[]string{"log", two + "/"}, []string{two + "/a", two + "/b"}},
		{[]string{"log", "local://torchx/" + two + "/a"}, []string{"local://torchx/" + two + "/a"}},
		{[]string{"log", two + "/a/"}, []string{two + "/a/0"}},
		{[]string{"status", two, "--roles", "a,"}, []string{"a,a", "a,b"}},
		{[]string{"rerun", two[:3]}, []string{two}},
		{[]string{"rerun", "--rec"}, []string{"--recorded"}},
		{[]string{"rerun", two, "--s"}, []string{"--second"}},
		{[]string{"rerun", "-", "--num"}, []string{"--num_replicas"}},
		{[]string{"rerun", "nothing", "--"}, nil},
	} {
		if got := completions(t, dir, c.words...); !reflect.DeepEqual(got, c.want) && !sameWords(got, c.want) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}

// TestCompleteIsFast: the user waits for it at each Tab. The bound is generous,
// the machine of a test has much else to do.
func TestCompleteIsFast(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	best := time.Hour
	for range 5 {
		begun := time.Now()
		completions(t, dir, "run", "dist.ddp", "--")
		best = min(best, time.Since(begun))
	}
	if best > 300*time.Millisecond {
		t.Errorf("it takes %v", best)
	}
}

// TestBashCompletion runs the script in a real bash, with the words as readline
// splits them.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		if strings.Contains(os.Getenv("TORCHX_REQUIRE"), "bash") {
			t.Fatal(err)
		}
		t.Skip("there is no bash")
	}
	dir := caseDir(t)
	script := torchx(t, dir, nil, "", "completion", "bash").out
	must(t, os.WriteFile(filepath.Join(dir, "torchx.bash"), []byte(script), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "a plan.json"), nil, 0o600))
	for _, c := range []struct {
		words string // a bash array
		line  string
		want  string
	}{
		{"torchx runo", "torchx runo", "runopts"},
		{"torchx run dist.d", "torchx  run dist.d", "dist.ddp"},
		{"torchx run -b ''", "torchx run -b ", "local\ndocker\nkubernetes"},
		{"torchx list --state = fai", "torchx list --state=fai", "failed"},
		{"torchx run --scheduler = local_c", "torchx run --scheduler=local_c", "local_cwd"},
		{"torchx run comps.star : tw", "torchx run comps.star:tw", "two"},
		{"torchx run comps.star :", "torchx run comps.star:", ""},
		{"torchx run -cfg image_type = c", "torchx run -cfg image_type=c", "cwd"},
		{"torchx submit a", "torchx submit a", "a plan.json"},
		{"torchx ru", "torchx ru --behind", "run\nrunopts"},
	} {
		line := strings.TrimSuffix(c.line, " --behind")
		cmd := exec.Command(bash, "--norc", "-c", `source ./torchx.bash
COMP_WORDS=(`+c.words+`) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=$2
_torchx; printf '%s\n' "${COMPREPLY[@]}"`, "bash", c.line, strconv.Itoa(len(line)))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TORCHX_HOME="+filepath.Join(dir, "home"), "HOME="+dir)
		out, err := cmd.CombinedOutput()
		must(t, err)
		got := strings.TrimSuffix(string(out), "\n")
		if c.want == "" { // all of the file's
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
