package main

import (
	"fmt"
	"strings"
)

// tails returns the benchmarks of the last line of each replica, while they run.
func (k *clusterBench) tails(s sizes) (all []bench) {
	for _, size := range s.replicas() {
		all = append(all, bench{
			name: fmt.Sprintf("log -n 1 of %d pods", size), goal: "< 1x", floorName: "kubectl logs --tail 1", runs: min(s.runs, 5),
			prepare: func() (side, side, error) { return k.tail(size) },
		})
	}
	return all
}

// tail returns reading the last line of each replica of an app that it starts. The simulated
// nodes keep the pods running, see test/cluster.
func (k *clusterBench) tail(size int) (torchx, floor side, err error) {
	if err := k.need(); err != nil {
		return nil, nil, err
	}
	out, err := k.output(fmt.Sprintf("exec %s run -b kubernetes --workspace= -cfg gang=job,%s utils.sh --image none --num_replicas %d sleep 1d", k.bin, simulated, size))
	if err != nil {
		return nil, nil, err
	}
	handle := strings.TrimSpace(out)
	pods := " -l app.kubernetes.io/instance=" + handle[strings.LastIndexByte(handle, ':')+1:]
	running := k.kubectl + " get pods -o name --field-selector status.phase=Running" + pods
	err = k.sh(fmt.Sprintf("until [ $(%s | wc -l) = %d ]; do sleep 1; done", running, size))
	logs := fmt.Sprintf("%s logs --tail 1 --prefix --max-log-requests %d%s > /dev/null", k.kubectl, size, pods)
	return k.torchx("log -n 1 " + handle + " > /dev/null"), k.command(logs), err
}
