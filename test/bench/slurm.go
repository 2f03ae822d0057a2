package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"torchx/backends/slurm"
	"torchx/test/slurmtest"
)

// slurmBench benchmarks the slurm backend, on the cluster of SLURM_CONF: run the benchmarks by
// test/slurm/run.sh.
type slurmBench struct {
	*environment

	handle  string // of an app that waits
	running string // handle of an app that runs
}

const (
	manyTasks = 1000
	// mostComponents is how many components a heterogeneous job may have by default, so how many
	// replicas a job with a component per replica, as TorchX submits it.
	mostComponents = 128
)

// jobs returns the benchmarks of jobs.
func (b *slurmBench) jobs(s sizes) []bench {
	need := func(torchx, floor func() (side, error)) func() (side, side, error) {
		return func() (side, side, error) {
			if !slurmtest.Required() {
				return nil, nil, &missingError{errors.New("TORCHX_REQUIRE=slurm uses the cluster of SLURM_CONF, see test/slurm/run.sh")}
			}
			f, err := floor()
			if err != nil {
				return nil, nil, err
			}
			t, err := torchx()
			return t, f, err
		}
	}
	always := func(run side) func() (side, error) { return func() (side, error) { return run, nil } }
	wrapped := b.command("sbatch --parsable --hold --output=/dev/null --wrap true > /dev/null")
	all := []bench{
		{
			name: "Slurm plan of 1000 replicas", goal: "< 50 ms", floorName: "its request as JSON", runs: s.runs,
			prepare: func() (side, side, error) { return b.planReplicas() },
		},
		{
			name: "submit to Slurm", floorName: "sbatch --wrap true", runs: s.runs,
			prepare: need(always(b.torchx("run -b slurm -cfg sbatch=--hold utils.echo > /dev/null")), always(wrapped)),
		},
		{
			name: fmt.Sprintf("submit %d tasks to Slurm", manyTasks), floorName: "sbatch --wrap true", runs: s.runs,
			prepare: need(always(b.torchx(fmt.Sprintf("run -b slurm -cfg 'sbatch=--hold;--overcommit,replicas_per_node=%d' utils.echo --num_replicas %d > /dev/null", manyTasks, manyTasks))), always(wrapped)),
		},
		{
			name: "status of a job of Slurm", goal: "< 3x", floorName: "squeue --json", runs: s.runs,
			prepare: need(func() (side, error) {
				err := b.submit()
				return b.torchx("status " + b.handle + " > /dev/null"), err
			}, always(b.command("squeue --json > /dev/null"))),
		},
	}
	all = append(all, bench{
		name: "exec in a job of Slurm", goal: "< 3x", floorName: "srun --overlap", runs: s.runs,
		prepare: need(func() (side, error) { return b.torchx("exec " + b.running + " -- " + program), nil }, func() (side, error) {
			err := b.startJob()
			id := b.running[strings.LastIndexByte(b.running, '/')+1:]
			return b.command("exec srun --overlap --jobid=$(squeue --noheader --name=" + id + " --format=%A) " + program), err
		}),
	})
	for _, n := range []int{16, 64, mostComponents} {
		run := fmt.Sprintf("run -b slurm -cfg 'sbatch=--hold;--overcommit,replicas_per_node=%d' utils.echo --num_replicas %d > /dev/null", n, n)
		all = append(all, bench{
			name: fmt.Sprintf("submit %d replicas to Slurm", n), floorName: "sbatch, a component per replica", runs: min(s.runs, 3),
			prepare: need(always(b.torchx(run)), func() (side, error) { return b.perReplica(n) }),
		})
	}
	all[len(all)-1].goal = "< 1x"
	return all
}

// planReplicas returns planning many replicas, and encoding the plan as JSON.
func (b *slurmBench) planReplicas() (torchx, floor side, err error) {
	s, err := slurm.New(slurm.Config{Home: b.home, Version: "1"})
	if err != nil {
		return nil, nil, err
	}
	return planBy(s, b.dir)
}

// perReplica submits a job with a component for each of n replicas.
func (b *slurmBench) perReplica(n int) (side, error) {
	one := "#SBATCH --hold --output=/dev/null --ntasks=1\n"
	text := "#!/bin/bash\n" + strings.Repeat(one+"#SBATCH hetjob\n", n-1) + one + "true\n"
	file := filepath.Join(b.dir, fmt.Sprintf("components-%d.sh", n))
	return b.command("sbatch --parsable " + file + " > /dev/null"), os.WriteFile(file,
		[]byte(text), 0o600)
}

// submit submits an app that waits.
func (b *slurmBench) submit() (err error) {
	if b.handle == "" {
		b.environment = b.in("slurm")
		b.handle, err = b.output("exec " + b.bin + " run -b slurm -cfg sbatch=--hold utils.echo")
	}
	return err
}

// startJob submits an app and waits until it runs.
func (b *slurmBench) startJob() (err error) {
	b.running, err = b.output("exec " + b.bin + " run -b slurm utils.sh sleep 1000")
	if err != nil {
		return err
	}
	b.running = strings.TrimSpace(b.running)
	return b.sh("until " + b.bin + " status " + b.running + " | grep -q 'State: RUNNING'; do sleep 0.2; done")
}
