package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tails returns the benchmarks of the last line of each replica, while they run.
func (k *clusterBench) tails(s sizes) (all []bench) {
	for _, size := range s.replicas() {
		all = append(all, bench{
			name: fmt.Sprintf("log -n 1 of %d pods", size), floorName: "curl of the same logs", runs: min(s.runs, 5),
			prepare: func() (side, side, error) { return k.tail(size) },
		})
	}
	return all
}

// tail returns reading the last line of each replica of an app that it starts, and reading the same
// lines by curl: kubectl sends five requests a second. The simulated nodes keep the pods running,
// see test/cluster.
func (k *clusterBench) tail(size int) (torchx, floor side, err error) {
	if err := k.need(); err != nil {
		return nil, nil, err
	}
	out, err := k.output(fmt.Sprintf("exec %s run -b kubernetes --workspace= -cfg gang=job,%s utils.sh --image none --num_replicas %d sleep 1d", k.bin, simulated, size))
	if err != nil {
		return nil, nil, err
	}
	handle := strings.TrimSpace(out)
	pods := k.kubectl + " get pods -o name --field-selector status.phase=Running -l app.kubernetes.io/instance=" + handle[strings.LastIndexByte(handle, ':')+1:]
	names, err := k.output(fmt.Sprintf("until [ $(%s | wc -l) = %d ]; do sleep 1; done; %s", pods, size, pods))
	if err != nil {
		return nil, nil, err
	}
	server, err := k.output(k.kubectl + " config view -o jsonpath={.clusters[0].cluster.server} --kubeconfig " + k.kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	var config strings.Builder
	for name := range strings.FieldsSeq(names) {
		fmt.Fprintf(&config, "url = %s/api/v1/namespaces/default/pods/%s/log?tailLines=1\noutput = /dev/null\n", server, strings.TrimPrefix(name, "pod/"))
	}
	file, pki := filepath.Join(k.dir, "logs.curl"), filepath.Dir(k.kubeconfig)
	curl := fmt.Sprintf("curl -sf --parallel --parallel-max 32 --cacert %[1]s/ca.crt --cert %[1]s/admin.crt --key %[1]s/admin.key -K %[2]s", pki, file)
	return k.torchx("log -n 1 " + handle + " > /dev/null"), k.command(curl), os.WriteFile(file,
		[]byte(config.String()), 0o600)
}
