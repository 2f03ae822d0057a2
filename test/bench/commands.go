package main

import "path/filepath"

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
	const hundred = "i=0; while [ $i -lt 100 ]; do /bin/true & i=$((i+1)); done; wait"
	return []bench{
		line("version", "< 1.5x", libraries, "version", w.command(w.floor())),
		line("run --dryrun dist.ddp", "", libraries, "run --dryrun dist.ddp -j 2x2 --script x.py", w.command(w.floor())),
		line("run dist.ddp --help", "< 30 ms", libraries, "run dist.ddp --help", w.command(w.floor())),
		line("run utils.echo to its end", "< 60 ms", "sh -c 'echo hello world'", "run utils.echo", w.command("echo hello world")),
		line("run --timeout 1h utils.echo", "< 60 ms", "sh -c 'echo hello world'", "run --timeout 1h utils.echo", w.command("echo hello world")),
		line("run --on-end true utils.echo", "< 60 ms", "sh -c 'echo hello world'", "run --on-end true utils.echo", w.command("echo hello world")),
		w.checkout(runs),
		line("100 replicas of /bin/true", "< 4x", "a shell starting 100",
			"run utils.binary --entrypoint /bin/true --num_replicas 100", w.command(hundred)),
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
