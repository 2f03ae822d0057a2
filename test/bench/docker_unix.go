//go:build unix

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"torchx/test/enginetest"
)

// dockerBench benchmarks the docker backend, on an engine that answers or that it starts.
type dockerBench struct {
	*environment // with DOCKER_HOST once there is an engine

	engine  *enginetest.Engine
	missing error  // why there is no engine
	handle  string // of the app with the log
	keeper  string // handle of an app that keeps the network alive
}

// containers returns the benchmarks of the docker backend, compared with docker.
func (d *dockerBench) containers(s sizes) []bench {
	var all []bench
	for _, n := range []int{1, 10, 20} {
		goal := ""
		if n == 20 {
			goal = "< 0.6x"
		}
		all = append(all, bench{
			name: fmt.Sprintf("run -d -b docker, %d replicas", n), goal: goal,
			floorName: fmt.Sprintf("docker run -d, %d times", n), runs: min(s.runs, 3),
			prepare: func() (side, side, error) { return d.startContainers(n), d.dockerRun(n), d.get() },
		})
	}
	log := func(name, goal, home string) bench {
		return bench{
			name: name, goal: goal, floorName: "docker logs", runs: min(s.runs, 3),
			prepare: func() (side, side, error) {
				if err := d.makeLog(s.log / 10); err != nil {
					return nil, nil, err
				}
				id := d.handle[strings.LastIndexByte(d.handle, '/')+1:]
				floor := d.command(fmt.Sprintf("exec docker logs $(docker ps -aq --filter label=torchx.pytorch.org/app-id=%s) > /dev/null", id))
				return d.in(home).torchx("log " + d.handle + "/sh/0 > /dev/null"), floor, nil
			},
		}
	}
	size := fmt.Sprintf("log of %d MB, ", s.log/10/1e6)
	all = append(all, bench{
		name: "exec in a container", goal: "< 2x", floorName: "docker exec", runs: s.runs,
		prepare: func() (side, side, error) {
			if err := d.get(); err != nil {
				return nil, nil, err
			}
			id := d.keeper[strings.LastIndexByte(d.keeper, '/')+1:]
			container, err := d.output("docker ps -q --filter label=torchx.pytorch.org/app-id=" + id)
			return d.torchx("exec " + d.keeper + " -- " + program), d.command("exec docker exec " + strings.TrimSpace(container) + " " + program), err
		},
	})
	// Another home has no copy of the log: it reads the engine's.
	return append(all, log(size+"archived", "", "docker"),
		log(size+"engine's", "< 1.1x", "docker-other"))
}

// get finds or starts the engine and runs a container, which creates the network.
func (d *dockerBench) get() error {
	if d.engine != nil || d.missing != nil {
		return d.missing
	}
	if _, err := exec.LookPath("docker"); err != nil {
		d.missing = &missingError{errors.New("docker is not installed")}
		return d.missing
	}
	e, err := enginetest.Get()
	var missing *enginetest.MissingError
	if errors.As(err, &missing) && !enginetest.Required() {
		d.missing = &missingError{err}
		return d.missing
	}
	if err != nil {
		return err
	}
	d.engine = e
	d.environment = d.in("docker")
	d.env = append(d.env, "DOCKER_HOST="+e.Host)
	// It runs until the end, because the network is removed with the last container.
	d.keeper, err = d.containersOf(1, "sleep 100000")
	return err
}

// containersOf starts an app and returns when all its containers run.
func (d *dockerBench) containersOf(n int, command string) (handle string, err error) {
	out, err := d.output(fmt.Sprintf("exec %s run -d -b docker --workspace= utils.sh --image %s --num_replicas %d -- %s",
		d.bin, enginetest.Image, n, command))
	return strings.TrimSpace(out), err
}

func (d *dockerBench) startContainers(n int) side {
	return func() (float64, error) {
		var handle string
		took, err := timed(func() (err error) {
			handle, err = d.containersOf(n, "sleep 1000")
			return err
		})()
		if err != nil {
			return 0, err
		}
		return took, d.sh("exec " + d.bin + " delete -f " + handle)
	}
}

// dockerRun starts the same containers with docker, one after the other.
func (d *dockerBench) dockerRun(n int) side {
	const label = "torchx-bench"
	return func() (float64, error) {
		took, err := d.command(fmt.Sprintf("i=0; while [ $i -lt %d ]; do docker run -d --init --network torchx --label %s %s sleep 1000 || exit; i=$((i+1)); done",
			n, label, enginetest.Image))()
		return took, errors.Join(err, d.sh("docker rm -f $(docker ps -aq --filter label="+label+")"))
	}
}

// makeLog runs an app that prints size bytes in lines of 100.
func (d *dockerBench) makeLog(size int64) error {
	if err := d.get(); err != nil || d.handle != "" {
		return err
	}
	handle, err := d.containersOf(1, fmt.Sprintf("sh -c 'yes %s | head -n %d'", strings.Repeat("x", 99), size/100))
	if err != nil {
		return err
	}
	d.handle = handle
	return d.sh("exec " + d.bin + " wait " + handle)
}

// stop removes the apps, and the engine if get started it.
func (d *dockerBench) stop() error {
	var err error
	for _, handle := range []string{d.handle, d.keeper} {
		if handle != "" {
			err = errors.Join(err, d.sh("exec "+d.bin+" delete -f "+handle))
		}
	}
	if d.engine != nil {
		err = errors.Join(err, d.engine.Stop())
	}
	return err
}
