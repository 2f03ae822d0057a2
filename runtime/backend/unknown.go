package backend

import (
	"slices"
	"strings"

	"torchx/runtime/humanize"
)

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
	{"podman containerd nerdctl singularity apptainer container", "-b docker runs containers"},
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
