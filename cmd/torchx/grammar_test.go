package main

import (
	"slices"
	"strings"
	"testing"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/program"
)

func testGrammar() *grammar.Grammar {
	return program.GrammarOf(commandLine())
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"list", "list"},
		{"ps --all", "list --all=true"},
		{"status -", "status -- -"},
		{"log -/role/0 -t", "log --tail=true -- -/role/0"},
		{"log h -t", "log --tail=true -- h"},
		{"log -t h", "log --tail=true -- h"},
		{"log h -n 5", "log --n=5 -- h"},
		{"log h -n5", "log --n=5 -- h"},
		{"log h --since=10m", "log --since=10m -- h"},
		{"log h -- -t", "log -- h -t"},
		{"--log-level debug list", "--log_level=debug list"},
		{"list --log_level=debug --no_color", "--log_level=debug --no-color=true list"},
		{"run -s local utils.echo --msg hi", "run --backend=local -- utils.echo --msg hi"},
		{"run --scheduler_args a=b,c=d -- utils.sh -- echo", "run --cfg=a=b,c=d -- utils.sh -- echo"},
		{"run --scheduler-args=a=b utils.echo --help", "run --cfg=a=b -- utils.echo --help"},
		{"run -cfg a=b utils.sh -h gpu.small", "run --cfg=a=b -- utils.sh -h gpu.small"},
		{"run --env A=1 --env B=2 c", "run --env=A=1 --env=B=2 -- c"},
		{"run --dryrun=false c", "run --dryrun=false -- c"},
		{"run --workspace= c", "run --workspace= -- c"},
		{"run --parent-run-id -5 c", "run --parent_run_id=-5 -- c"},
		{"run -h", "run"},
		// Words of other tools that work.
		{"log h -5", "log --n=5 -- h"},
		{"log h --tail 5", "log --n=5 -- h"},
		{"log --tail=5 -f h", "log --n=5 --tail=true -- h"},
		{"log --tail h", "log --tail=true -- h"},
		{"log --tail=all h", "log -- h"},
		{"logs --tail -1 h", "log -- h"},
		{"logs --follow h", "log --tail=true -- h"},
		{"list -o json", "list --output=json"},
		{"status -o json", "status --json=true"},
		{"ls -a", "list --all=true"},
		{"run -it -e A=1 c", "run --tty=true --env=A=1 -- c"},
		{"run -i -t c -i", "run --tty=true -- c -i"},
		{"attach -it h", "attach --tty=true -- h"},
		{"rerun --interactive h -i", "rerun --tty=true -- h -i"},
		{"diff -e A=1 a", "diff --env=A=1 -- a"},
		{"cancel -f h", "cancel --force=true -- h"},
		{"-V", "--version=true"},
		{"-s local list", "list --backend=local"},
		{"-o json status", "status --json=true"},
		{"component -v test x", "component test --v=true -- x"},
		{"-d run c -d", "run --detach=true -- c -d"},
		{"component", "component"},
		{"component lint a --json", "component lint --json=true -- a"},
		{"component --no-color test -run a/b x", "--no-color=true component test --run=a/b -- x"},
		{"component fmt -- --check", "component fmt -- --check"},
	} {
		got, err := testGrammar().Normalize(strings.Fields(c.in))
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
		} else if s := strings.Join(got.Args(), " "); s != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.in, s, c.want)
		}
	}
}

func TestNormalizeErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"--frob", "unknown flag --frob."},
		{"lst", "unknown command lst. Did you mean list?"},
		{"component tst", "component: unknown command tst. Did you mean test?"},
		{"component -- test", "component: unknown command --."},
		{"component lint --fxi", "component lint: unknown flag --fxi. Did you mean --fix?"},
		{"list --js", "list: unknown flag --js. Did you mean --json?"},
		{"run --work x", "run: unknown flag --work. Did you mean --workspace?"},
		{"list --hel", "list: unknown flag --hel. Did you mean --help?"},
		{"list h", ""},
		{"list --limt 3", "list: unknown flag --limt. Did you mean --limit?"},
		{"list --limit", "list: --limit needs a value"},
		{"list --limit --all", "list: --limit needs a value: write --limit=VALUE if it begins with '-'"},
		{"list --limit 1 --limit 2", "list: --limit is specified more than once"},
		{"list --limit=1 --limit=2", "list: --limit is specified more than once"},
		{"run -s local --backend local c", "run: --backend is specified more than once (also as -s)"},
		{"list --all --all", "list: --all is specified more than once"},
		{"list --all=maybe", "list: --all takes no value: maybe is neither true nor false (write --all)"},
		{"log h -x", "log: unknown flag -x."},
		{"-- list", "unknown command --."},
		{"utils.echo --msg a", "unknown command utils.echo: `torchx run utils.echo` runs a component"},
		{"my.star:f", "unknown command my.star:f: `torchx run my.star:f` runs a component"},
		{"./train.py", "unknown command ./train.py: `torchx run utils.python --script ./train.py` runs a script"},
		{"agent", "unknown command agent."},
		// Words of other tools that are answered.
		{"get apps", "unknown command get: `torchx list`"},
		{"h", "unknown command h: `torchx help`"},
		{"component help", "component: unknown command help: `torchx help component`"},
		{"lib install x", "lib: unknown command install: `torchx lib add NAME URL`"},
		{"delete --selector a=1", "delete: unknown flag --selector: `torchx delete --tag KEY=VALUE`"},
		{"cancel -9 h", "cancel: unknown flag -9: `torchx cancel --force HANDLE`"},
		{"list -owide", "list: unknown flag -owide: `torchx list -o wide`"},
		{"note -q h", "note: unknown flag -q: `torchx --log_level error note`"},
		{"wait --json h", "wait: unknown flag --json: wait prints no JSON"},
		{"run --name x c", "run: unknown flag --name: `torchx run dist.ddp --name NAME"},
		{"run -v /a:/b c", "run: unknown flag -v: `torchx run -b docker utils.sh --mounts"},
		{"run --shm-size 1 c", "run: unknown flag --shm-size: arguments of a component follow it, `torchx run COMPONENT --shm-size …`"},
		{"-d", "-d is an option of commands, such as `torchx run -d`"},
		{"component --json", "component: --json is an option of commands, such as `torchx component list --json`"},
		{"-v", "unknown flag -v: `torchx --log_level debug` prints more"},
	} {
		_, err := testGrammar().Normalize(strings.Fields(c.in))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.in, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%q: got %v, want %s", c.in, err, c.want)
		}
	}
}

// FuzzNormalize checks that no positional is lost or changed, that each flag is in canonical
// form, and that the result is stable.
func FuzzNormalize(f *testing.F) {
	f.Add("run\x00-s\x00local\x00utils.echo\x00--msg\x00x")
	f.Add("log\x00-\x00-t\x00-n5\x00--\x00--x")
	f.Add("list\x00--log_level=debug")
	f.Add("lib")
	g := testGrammar()
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\x00")
		n, err := g.Normalize(args)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("empty error")
			}
			return
		}
		if !containsInOrder(args, n.Positionals) {
			t.Errorf("%q: positionals %q", args, n.Positionals)
		}
		for _, flag := range slices.Concat(n.Globals, n.Flags) {
			name, _, ok := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			if !ok || !strings.HasPrefix(flag, "--") || name == "" {
				t.Errorf("%q: flag %q", args, flag)
			}
		}
		again, err := g.Normalize(n.Args())
		if err != nil || !slices.Equal(again.Args(), n.Args()) {
			t.Errorf("%q is not stable: %q, then %q (%v)", args, n.Args(), again.Args(), err)
		}
	})
}

func containsInOrder(all, some []string) bool {
	for _, s := range some {
		i := slices.Index(all, s)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}
