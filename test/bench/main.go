// Bench measures torchx as users run it. Each figure is compared with a floor that is
// measured in the same run, because ratios depend less on the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// limit bounds a run, so that a hanging command does not hang CI.
const limit = 90 * time.Minute

// sizes is the amount of work of the benchmarks.
type sizes struct {
	runs int   // of each benchmark
	log  int64 // bytes of the log to read and of floods
	apps int   // in the large history
	pods int   // of the largest apps of Kubernetes
}

// replicas returns the sizes of the apps of Kubernetes.
func (s sizes) replicas() []int { return []int{s.pods / 5, s.pods} }

func main() {
	var s sizes
	bin := flag.String("torchx", "bin/torchx", "the program to measure")
	flag.IntVar(&s.runs, "runs", 11, "runs of each benchmark")
	flag.Int64Var(&s.log, "log", 1e9, "bytes of the log to read")
	flag.IntVar(&s.apps, "apps", 100_000, "apps in the large history")
	flag.IntVar(&s.pods, "pods", 5000, "pods of the largest apps of Kubernetes; others have a fifth of them")
	only := flag.String("only", "", "measure only the benchmarks that match this pattern")
	stamp := flag.Bool("stamps", false, "print the time every few milliseconds (the replica of a benchmark)")
	flag.Parse()
	if *stamp {
		if err := stamps(os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	if err := run(*bin, *only, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(bin, only string, s sizes) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	bin, err = filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "torchx-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	w := &environment{ctx: ctx, dir: dir, home: filepath.Join(dir, "home")}
	if err := w.install(bin); err != nil {
		return err
	}
	e, k, p := &dockerBench{environment: w}, &clusterBench{environment: w, parts: "up=control volcano jobset kwok=32"}, &pageBench{}
	j := &slurmBench{environment: w}
	node := &clusterBench{environment: w, parts: "up"}
	benches := append(w.benches(s, e, k, p), node.execInPod(s.runs))
	err = table(os.Stdout, append(benches, j.jobs(s)...), chosen)
	return errors.Join(err, e.stop(), k.stop(), node.stop(), p.stop())
}

// table prints each line as soon as it is measured, so columns have fixed widths.
func table(out io.Writer, benches []bench, chosen *regexp.Regexp) error {
	row := func(cells ...any) { fmt.Fprintf(out, "%-29s %11s %11s %6s  %-8s %s\n", cells...) }
	row("what", "torchx", "floor", "ratio", "goal", "the floor is")
	for _, b := range benches {
		if !chosen.MatchString(b.name) {
			continue
		}
		r, err := b.measure()
		var missing *missingError
		if errors.As(err, &missing) {
			row(b.name, "-", "-", "-", b.goal, missing)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		row(b.name, r.torchx, r.floor, r.ratio, b.goal, b.floorName)
	}
	return nil
}
