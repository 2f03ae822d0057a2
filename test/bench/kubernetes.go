package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"torchx/backends/kubernetes"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/clustertest"
)

// clusterBench benchmarks the kubernetes backend, on a cluster that it starts.
type clusterBench struct {
	*environment // with KUBECONFIG once there is a cluster

	holder     *exec.Cmd
	alive      io.Closer // closing it ends the cluster
	parts      string    // of the cluster, as K8S_PARTS of test/cluster/run.sh
	kubectl    string
	kubeconfig string // of the cluster, without the proxy
	proxy      *clustertest.Proxy
	missing    error // why there is no cluster
	started    bool
	hasHeld    bool              // the namespace held exists
	handles    map[string]string // of apps that have ended, by form and size
}

// plannedReplicas is the number of replicas of the plan.
const plannedReplicas = 1000

// cluster returns the benchmarks of apps with many replicas.
func (k *clusterBench) cluster(s sizes) []bench {
	all := []bench{{
		name: "plan of 1000 replicas", goal: "< 100 ms", floorName: "its objects as JSON", runs: s.runs,
		prepare: func() (side, side, error) { return k.planReplicas() },
	}}
	return slices.Concat(all, k.submissions(s), k.statuses(s), k.tails(s))
}

// planReplicas returns planning many replicas, and encoding the plan as JSON.
func (k *clusterBench) planReplicas() (torchx, floor side, err error) {
	b, err := kubernetes.New(kubernetes.Config{Home: k.home, Version: "1"})
	if err != nil {
		return nil, nil, err
	}
	return planBy(b, k.dir)
}

// planBy returns planning many replicas for a backend, and encoding the plan as JSON.
func planBy(b backend.Backend, dir string) (torchx, floor side, err error) {
	cfg, _, err := backend.Resolve(b.Options())
	if err != nil {
		return nil, nil, err
	}
	role := spec.NewRole("trainer", "image")
	role.Entrypoint, role.Args, role.NumReplicas = "sh", []string{"-c", "echo ${app_id} ${replica_id}"}, plannedReplicas
	in := backend.PlanInput{ID: "trainer-1", App: &spec.App{Name: "trainer", Roles: []spec.Role{role}}, Cfg: cfg, Cwd: dir}
	plan := func() (*backend.Plan, error) { return b.Plan(context.Background(), in) }
	planned, err := plan()
	if err != nil {
		return nil, nil, err
	}
	torchx = timed(func() error { _, err := plan(); return err })
	floor = timed(func() error { _, err := json.Marshal(planned.Request); return err })
	return torchx, floor, nil
}

// countRequests returns a side whose figure is its number of requests to the server.
func (k *clusterBench) countRequests(run side) side {
	return func() (float64, error) {
		k.proxy.Requests()
		_, err := run()
		return float64(len(k.proxy.Requests())), err
	}
}

// need starts the cluster, unless it runs.
func (k *clusterBench) need() error {
	if k.started {
		return k.missing
	}
	k.started = true
	if !clustertest.Required() {
		k.missing = &missingError{errors.New("TORCHX_REQUIRE=kubernetes starts a cluster")}
		return k.missing
	}
	k.missing = k.start()
	return k.missing
}

// start starts the cluster and a proxy that counts requests.
func (k *clusterBench) start() error {
	k.holder = exec.CommandContext(k.ctx, "test/cluster/run.sh", "sh", "-c",
		"echo $KUBECONFIG; command -v kubectl; exec cat")
	k.holder.Env = append(os.Environ(), "K8S_PARTS="+k.parts, "K8S_VOLCANO_QPS=2000")
	k.holder.Stderr = os.Stderr
	in, err := k.holder.StdinPipe()
	if err != nil {
		return err
	}
	out, err := k.holder.StdoutPipe()
	if err == nil {
		err = k.holder.Start()
	}
	if err != nil {
		k.holder = nil
		return errors.Join(err, in.Close())
	}
	k.alive = in
	read := bufio.NewReader(out)
	kubeconfig, err := read.ReadString('\n')
	if err == nil {
		k.kubectl, err = read.ReadString('\n')
	}
	if err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	k.kubectl = strings.TrimSpace(k.kubectl)
	k.kubeconfig = strings.TrimSpace(kubeconfig)
	c, err := clustertest.Open(k.kubeconfig)
	if err != nil {
		return err
	}
	k.environment = k.in("kubernetes")
	file := filepath.Join(k.dir, "kubeconfig")
	k.env = append(k.env, "KUBECONFIG="+file)
	k.proxy, err = c.NewProxy(file)
	return err
}

// stop ends the cluster.
func (k *clusterBench) stop() error {
	if k.proxy != nil {
		k.proxy.Cut()
	}
	if k.holder == nil {
		return nil
	}
	return errors.Join(k.alive.Close(), k.holder.Wait())
}
