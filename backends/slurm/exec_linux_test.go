package slurm

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEnterScript: a command gets the environment of the process exactly, whatever Bash makes of its variables.
func TestEnterScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "bash") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	all := []string{
		"PATH=/usr/bin:/bin", "SECRET=s p'a\"c$e\n", "EMPTY=", "a.b=1", "BASH_FUNC_f%%=() { :; }", "SHLVL=7", "_=/bin/x", "PWD=/nowhere", "OLDPWD=/old",
		"UID=9", "PPID=1", "RANDOM=4", "SECONDS=5", "IFS=abc", "LC_ALL=xx_YY.UTF-8", "POSIXLY_CORRECT=1", "BASHOPTS=x", "BASH_ENV=/nowhere", "EXECIGNORE=*", "OPTIND=3",
		"v=1", "vars=2", "env=3", "given=4", "PROMPT_COMMAND=exit", "TMOUT=1", "HOSTNAME=h", "histchars=abc",
	}
	for name, environ := range map[string][]string{"what Bash knows": all, "few": all[:3]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entered := exec.CommandContext(t.Context(), "sleep", "600")
			entered.Env, entered.Dir = environ, t.TempDir()
			if err := entered.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = entered.Process.Kill()
				_ = entered.Wait()
			})
			out, err := exec.CommandContext(t.Context(), "bash", "-c", enterScript, "torchx", strconv.Itoa(entered.Process.Pid), "env", "-0").Output()
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Sorted(slices.Values(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")))
			if want := slices.Sorted(slices.Values(environ)); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
