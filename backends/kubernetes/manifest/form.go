package manifest

import "torchx/runtime/spec"

// form is what on the cluster runs an app's replicas.
type Form string

const (
	FormAuto    Form = "auto"
	FormVolcano Form = "volcano" // a Volcano Job: one task for each replica; all start or none
	FormJobSet  Form = "jobset"  // a JobSet: one replicated job for each role
	FormJob     Form = "job"     // one Indexed Job for each role and a headless service
)

// forms are those that a plan can have, those that can most first.
var Forms = []Form{FormVolcano, FormJobSet, FormJob}

func formNames() []string {
	names := []string{string(FormAuto)}
	for _, f := range Forms {
		names = append(names, string(f))
	}
	return names
}

// choose is what gang=auto makes of the forms that the cluster has: the first one
// that can retry as all roles ask, else the first. Nobody has asked the cluster
// when installed is nil; then it is volcano, as in TorchX.
func choose(app *spec.App, o Options, installed []Form) Form {
	if o.gang != FormAuto {
		return o.gang
	}
	has := map[Form]bool{FormJob: true, FormVolcano: installed == nil, FormJobSet: installed == nil}
	for _, f := range installed {
		has[f] = true
	}
	if o.kueueQueue != "" {
		has[FormVolcano] = false // Kueue has no Volcano jobs
	}
	var first Form
	for _, f := range Forms {
		if !has[f] {
			continue
		}
		if first == "" {
			first = f
		}
		if installed == nil || len(unretried(app, f)) == 0 {
			return f
		}
	}
	return first
}
