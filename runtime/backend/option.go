package backend

import (
	"slices"
	"strings"

	"torchx/runtime/humanize"
)

// OptionType is the type of a -cfg value.
type OptionType string

// The option types, as `torchx runopts` prints them.
const (
	TypeStr   OptionType = "str"
	TypeInt   OptionType = "int"
	TypeFloat OptionType = "float"
	TypeBool  OptionType = "bool"
	TypeList  OptionType = "list" // []string
	TypeMap   OptionType = "dict" // map[string]string
)

// Option is one -cfg key of a backend.
type Option struct {
	Key      string
	Type     OptionType
	Required bool
	Default  any      // nil or a string, int, float64, bool, []string or map[string]string
	Choices  []string // for TypeStr: the allowed values; nil: any
	Help     string
	Risk     Risk // of a value that a project chooses
	Path     bool // a TypeStr that is a path: a leading ~ is expanded
	// Protects marks a limit: Misspelled rejects a similar key.
	Protects bool
}

// Risk is what a project gains by setting an option, in words for a question to the user.
type Risk string

// The risks. All but Harmless need the user's consent.
const (
	Harmless  Risk = "is harmless"
	Executes  Risk = "runs programs on this machine"
	Escalates Risk = "grants rights"
	Exports   Risk = "passes on secrets or files"
	Elsewhere Risk = "chooses an identity, an image or a place"
	Writes    Risk = "writes outside of the folder"           // harmless if the path is inside
	Loads     Risk = "makes programs load code of the folder" // harmless unless it sets such variables
)

var risks = []Risk{Harmless, Executes, Escalates, Exports, Elsewhere, Writes, Loads}

// Config holds resolved options: every key of the backend, nil if it has no value.
type Config map[string]any

// otherSystems lists systems without a backend, by the names that TorchX and users give them, and
// what to use instead.
var otherSystems = []struct{ names, instead string }{
	{"sbatch srun salloc slurmctld", "-b slurm runs on a Slurm cluster"},
	{"lsf pbs sge torque htcondor oar flux", "inside an allocation, -b local runs all replicas on its node"},
	{"aws_batch aws_sagemaker sagemaker gcp_batch azure_batch vertex vertex_ai ray dask eks gke aks", "-b kubernetes runs on any cluster of your kubeconfig"},
	{"kubernetes_mcad mcad k8s kube openshift", "-b kubernetes runs on a cluster"},
	{"kueue", "use -b kubernetes -cfg kueue_queue=QUEUE, see `torchx help kueue`"},
	{"volcano", "use -b kubernetes -cfg gang=volcano, see `torchx help volcano`"},
	{"jobset", "use -b kubernetes -cfg gang=jobset, see `torchx help jobset`"},
	{"podman", "set DOCKER_HOST to its socket and use -b docker, see `torchx help podman`"},
	{"containerd nerdctl singularity apptainer container", "-b docker runs containers"},
	{"process host localhost shell ssh", "-b local runs on this machine"},
}

// unknown returns the error for the name of an unknown backend: it lists the known names and
// says what to use instead of a system that torchx does not support.
func (r *Registry) unknown(name string) error {
	known := strings.Join(r.order, ", ")
	for _, s := range otherSystems {
		if slices.Contains(strings.Fields(s.names), strings.ToLower(name)) {
			return Errorf(ErrNotFound, "backend %q does not exist in torchx: known ones are %s (%s)", name, known, s.instead)
		}
	}
	candidates := slices.Clone(r.order)
	for alias := range r.aliases {
		candidates = append(candidates, alias)
	}
	hint := humanize.Hint(name, candidates)
	if hint != "" {
		hint = "." + hint
	}
	return Errorf(ErrNotFound, "unknown backend %q: known ones are %s%s", name, known, hint)
}
