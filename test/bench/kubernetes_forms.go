package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// forms are the values of the option gang that name a form.
var forms = []string{"job", "volcano", "jobset"}

const (
	// simulated are options for pods of simulated nodes.
	simulated = "node_selector=type:kwok,tolerations=kwok,reserved_millicpu=1000"
	// held is a namespace in which no pods are created, so that what is submitted to it does not
	// slow the next benchmark. Dry runs, by which torchx checks a pod, are allowed.
	held      = "held"
	heldRules = `
{apiVersion: v1, kind: Namespace, metadata: {name: held}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: held}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: held}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: has(request.dryRun) && request.dryRun}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: held}
spec: {policyName: held, validationActions: [Deny]}
`
)

// submissions returns the benchmarks of submitting apps, in each form and size.
func (k *clusterBench) submissions(s sizes) (all []bench) {
	for _, form := range forms {
		for _, size := range s.replicas() {
			all = append(all, bench{
				name: fmt.Sprintf("submit %d replicas (%s)", size, form), floorName: "kubectl create of its objects", runs: min(s.runs, 5),
				prepare: func() (side, side, error) { return k.submit(form, size) },
			})
		}
	}
	return all
}

// submit returns submitting an app, and creating the same objects by kubectl.
func (k *clusterBench) submit(form string, size int) (torchx, floor side, err error) {
	if err := k.need(); err != nil {
		return nil, nil, err
	}
	if !k.hasHeld {
		if err := k.sh(k.kubectl + " create -f - <<'END'" + heldRules + "END"); err != nil {
			return nil, nil, err
		}
		k.hasHeld = true
	}
	run := fmt.Sprintf("-b kubernetes --workspace= -cfg namespace=%s,gang=%s,%s utils.sh --image none --num_replicas %d true", held, form, simulated, size)
	file, err := k.writeObjects(run)
	return k.thenRemove(k.torchx("run " + run + " > /dev/null")), k.thenRemove(k.command(k.kubectl + " create -f " + file + " > /dev/null")), err
}

// writeObjects writes the objects of a plan to a file and returns its path.
func (k *clusterBench) writeObjects(run string) (file string, err error) {
	out, err := k.output("exec " + k.bin + " run --dryrun --json " + run)
	if err != nil {
		return "", err
	}
	var plan struct {
		Request struct {
			Objects []json.RawMessage `json:"objects"`
		} `json:"request"`
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": plan.Request.Objects})
	file = filepath.Join(k.dir, "objects.json")
	return file, errors.Join(err, os.WriteFile(file, list, 0o600))
}

// thenRemove returns a side that removes what it has created, which is not measured.
func (k *clusterBench) thenRemove(create side) side {
	return func() (float64, error) {
		took, err := create()
		remove := k.kubectl + " -n " + held + " delete jobs.batch,jobsets,jobs.batch.volcano.sh,services --all > /dev/null"
		return took, errors.Join(err, k.sh(remove))
	}
}

// statuses returns the benchmarks of the status of apps, in each form and size, and of the list.
func (k *clusterBench) statuses(s sizes) (all []bench) {
	status := func(name, goal, form string, size, runs int, u unit, measured func(side) side) bench {
		return bench{
			name: name, goal: goal, floorName: "kubectl get pods", runs: runs, unit: u,
			prepare: func() (side, side, error) {
				handle, err := k.ended(form, size)
				name := handle[strings.LastIndexByte(handle, ':')+1:]
				floor := k.command(k.kubectl + " get pods -l app.kubernetes.io/instance=" + name + " > /dev/null")
				return measured(k.torchx("status " + handle + " > /dev/null")), measured(floor), err
			},
		}
	}
	same := func(run side) side { return run }
	for _, size := range s.replicas() {
		for _, form := range forms {
			all = append(all, status(fmt.Sprintf("status of %d pods (%s)", size, form), "< 1x", form, size, min(s.runs, 5), seconds, same))
		}
		all = append(all, status(fmt.Sprintf("status of %d pods, requests", size), "<= 3", forms[0], size, 1, calls, k.countRequests))
	}
	return append(all, bench{
		name: "list of a cluster's apps", floorName: "kubectl get of jobs", runs: min(s.runs, 5),
		prepare: func() (side, side, error) {
			floor := k.command(k.kubectl + " get -A jobs.batch,jobsets,jobs.batch.volcano.sh > /dev/null")
			return k.torchx("list -b kubernetes > /dev/null"), floor, k.need()
		},
	})
}

// ended returns the handle of an app whose pods have ended, which it runs once.
func (k *clusterBench) ended(form string, size int) (handle string, err error) {
	if err := k.need(); err != nil {
		return "", err
	}
	key := fmt.Sprint(form, size)
	if k.handles[key] != "" {
		return k.handles[key], nil
	}
	out, err := k.output(fmt.Sprintf("exec %s run -b kubernetes --workspace= -cfg gang=%s,%s utils.sh --image none --num_replicas %d true", k.bin, form, simulated, size))
	if err != nil {
		return "", err
	}
	handle = strings.TrimSpace(out)
	if k.handles == nil {
		k.handles = map[string]string{}
	}
	k.handles[key] = handle
	return handle, k.sh("exec " + k.bin + " wait " + handle)
}
