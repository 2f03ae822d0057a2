package main

// sweepTrials is how many trials the sweep of the benchmark has.
const sweepTrials = "1000"

// sweeps benchmarks a sweep of short trials, with the same runs started by xargs.
func (w *environment) sweeps(runs int) []bench {
	return []bench{{
		name: "sweep of 1,000 trials", goal: "< 1x", floorName: "xargs -P 4 torchx run", runs: min(runs, 1),
		prepare: func() (side, side, error) {
			ours, floor := w.in("sweep"), w.in("xargs")
			return ours.torchx("sweep --repeat " + sweepTrials + " --parallel 4 utils.sh -- true > /dev/null 2>&1"),
				floor.command("seq " + sweepTrials + " | xargs -P 4 -I{} " + w.bin + " run utils.sh -- true > /dev/null 2>&1"), nil
		},
	}, {
		name: "planning 10,000 trials", goal: "< 2 s", floorName: "of two", runs: min(runs, 3),
		prepare: func() (side, side, error) {
			plan := func(n string) side {
				return w.torchx("sweep --dryrun --repeat " + n + " utils.sh -- true > /dev/null 2>&1")
			}
			return plan("10000"), plan("2"), nil
		},
	}}
}
