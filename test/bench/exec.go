package main

import (
	"fmt"
	"strings"

	"torchx/test/clustertest"
)

// program is what the benchmarks of exec run in a replica.
const program = "/bin/true"

// execHere returns the benchmark of a command in a replica of this machine.
func (w *environment) execHere(runs int) bench {
	return bench{
		name: "exec in a local replica", goal: "< 40 ms", floorName: program, runs: runs,
		prepare: func() (side, side, error) {
			here := w.in("exec")
			handle, err := here.start("sleep 100000", 1, "")
			return here.torchx("exec " + handle + " -- " + program), here.thenDelete(w.command(program), handle, runs), err
		},
	}
}

// thenDelete returns a side that deletes an app after its last run.
func (w *environment) thenDelete(run side, handle string, runs int) side {
	return func() (float64, error) {
		took, err := run()
		if runs--; runs == 0 && err == nil {
			err = w.sh("exec " + w.bin + " delete -f " + handle)
		}
		return took, err
	}
}

// execInPod returns the benchmark of a command in a pod. Its cluster has a real node.
func (k *clusterBench) execInPod(runs int) bench {
	return bench{
		name: "exec in a pod", goal: "< 1.5x", floorName: "kubectl exec", runs: runs,
		prepare: func() (side, side, error) {
			if err := k.need(); err != nil {
				return nil, nil, err
			}
			node := k.in("pod")
			node.env = append(node.env, "KUBECONFIG="+k.kubeconfig) // without the proxy, which has no upgrades
			out, err := node.output(fmt.Sprintf("exec %s run -d -b kubernetes --workspace= utils.sh --image %s --cpu 1 sleep 100000", node.bin, clustertest.Image))
			if err != nil {
				return nil, nil, err
			}
			handle := strings.TrimSpace(out)
			id := handle[strings.LastIndexByte(handle, ':')+1:]
			pod, err := node.output(fmt.Sprintf("until pod=$(%[1]s get pods -o name | grep %[2]s); do sleep 0.1; done; %[1]s wait --for=condition=Ready --timeout=2m $pod > /dev/null && echo $pod", k.kubectl, id))
			floor := node.command("exec " + k.kubectl + " exec " + strings.TrimSpace(pod) + " -- " + program)
			return node.torchx("exec " + handle + " -- " + program), floor, err
		},
	}
}
