package kubernetes

import "torchx/runtime/spec"

// form is what on the cluster runs an app's replicas.
type form string

const (
	formAuto    form = "auto"
	formVolcano form = "volcano" // a Volcano Job: one task for each replica; all start or none
	formJobSet  form = "jobset"  // a JobSet: one replicated job for each role
	formJob     form = "job"     // one Indexed Job for each role and a headless service
)

// forms are those that a plan can have, those that can most first.
var forms = []form{formVolcano, formJobSet, formJob}

func formNames() []string {
	names := []string{string(formAuto)}
	for _, f := range forms {
		names = append(names, string(f))
	}
	return names
}

// choose is what gang=auto makes of the forms that the cluster has: the first one
// that can retry as all roles ask, else the first. Nobody has asked the cluster
// when installed is nil; then it is volcano, as in TorchX.
func choose(app *spec.App, o options, installed []form) form {
	if o.gang != formAuto {
		return o.gang
	}
	has := map[form]bool{formJob: true, formVolcano: installed == nil, formJobSet: installed == nil}
	for _, f := range installed {
		has[f] = true
	}
	if o.kueueQueue != "" {
		has[formVolcano] = false // Kueue has no Volcano jobs
	}
	var first form
	for _, f := range forms {
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
