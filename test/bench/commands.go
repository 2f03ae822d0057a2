package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// helloWorld is the floor of a start.
const helloWorld = "a Go program that prints hello"

// libraries is the floor of most commands: a program with torchx's libraries that does
// nothing.
const libraries = "a Go program with the same libraries"

func (w *environment) benches(s sizes, e *dockerBench, k *clusterBench, p *pageBench) []bench {
	all := append(w.daily(s.runs), w.evaluation(s.runs)...)
	all = append(all, w.componentTests(s.runs))
	all = append(all, w.libraries(s.runs)...)
	all = append(all, w.languageServer(s.runs)...)
	all = append(all, w.history(s, p)...)
	all = append(all, w.outputs(s.runs)...)
	all = append(all, w.sweeps(s.runs)...)
	all = append(all, w.metrics(s)...)
	all = append(all, w.logs(s)...)
	all = append(all, w.scans(s)...)
	all = append(all, w.transfer(s)...)
	all = append(all, w.live(s)...)
	all = append(all, w.execHere(s.runs))
	all = append(all, k.cluster(s)...)
	return append(all, e.containers(s)...)
}

// daily returns the benchmarks of everyday commands.
func (w *environment) daily(runs int) []bench {
	line := func(name, goal, floorName, args string, floor side) bench {
		return bench{
			name: name, goal: goal, floorName: floorName, runs: runs,
			prepare: func() (side, side, error) { return w.torchx(args), floor, nil },
		}
	}
	const (
		hundredReplicas = "run utils.binary --entrypoint /bin/true --num_replicas 100"
		hundred         = "i=0; while [ $i -lt 100 ]; do /bin/true & i=$((i+1)); done; wait"
	)
	return []bench{
		line("start: version", "< 3.6x", helloWorld, "version", w.command(w.hello())),
		line("start: run utils.echo", "< 14.5x", helloWorld, "run utils.echo",
			w.command(w.hello())),
		line("version", "< 1.5x", libraries, "version", w.command(w.floor())),
		line("run --dryrun dist.ddp", "", libraries, "run --dryrun dist.ddp -j 2x2 --script x.py",
			w.command(w.floor())),
		line("run dist.ddp --help", "< 30 ms", libraries, "run dist.ddp --help",
			w.command(w.floor())),
		line("run utils.echo to its end", "< 60 ms", "sh -c 'echo hello world'", "run utils.echo",
			w.command("echo hello world")),
		line("run --timeout 1h utils.echo", "< 60 ms", "sh -c 'echo hello world'",
			"run --timeout 1h utils.echo", w.command("echo hello world")),
		line("run --on-end true utils.echo", "< 60 ms", "sh -c 'echo hello world'",
			"run --on-end true utils.echo", w.command("echo hello world")),
		w.checkout(runs),
		line("100 replicas of /bin/true", "< 4x", "a shell starting 100", hundredReplicas,
			w.command(hundred)),
		w.goreman(runs, hundredReplicas),
	}
}

// goreman compares an app of 100 replicas with goreman, a launcher of the lines of a Procfile.
func (w *environment) goreman(runs int, args string) bench {
	return bench{
		name: "100 replicas, as goreman", goal: "< 1.2x", floorName: "goreman starting 100 of /bin/true", runs: runs,
		prepare: func() (side, side, error) {
			if _, err := exec.LookPath("goreman"); err != nil {
				return nil, nil, &missingError{err}
			}
			var lines strings.Builder
			for i := range 100 {
				fmt.Fprintf(&lines, "p%d: /bin/true\n", i)
			}
			file := filepath.Join(w.dir, "Procfile")
			return w.torchx(args), w.command("exec goreman -f " + file + " start"), os.WriteFile(file, []byte(lines.String()), 0o600)
		},
	}
}

// checkout compares a run in a git checkout with uncommitted changes to one elsewhere: the run
// does not wait for git.
func (w *environment) checkout(runs int) bench {
	return bench{
		name: "run in a git checkout", goal: "< 1.1x", floorName: "the same run elsewhere", runs: runs,
		prepare: func() (side, side, error) {
			const setup = "git init -q checkout && cd checkout && date > a && git add a && git -c user.name=n -c user.email=e@x commit -qm x && echo new > a"
			run := func(dir string) side { return w.command("cd " + dir + " && exec " + w.bin + " run utils.echo") }
			return run(filepath.Join(w.dir, "checkout")), run(w.dir), w.sh("cd " + w.dir + " && " + setup)
		},
	}
}
