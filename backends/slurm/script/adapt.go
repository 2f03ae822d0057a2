package script

import (
	"strconv"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// Cluster is what a script depends on.
type Cluster struct {
	Major, Minor int  // version of Slurm; 0, 0 if unknown
	NoMemory     bool // the partition has no useful configured memory
}

// NeedsCluster reports whether Adapt may change the script of an app.
func NeedsCluster(app *spec.App, cfg backend.Config) (version, memory bool) {
	perNode, ok := cfg["replicas_per_node"].(int) // with more than one, only the count per node is exact
	for i := range app.Roles {
		version = version || (!ok || perNode == 1) &&
			app.Roles[i].Resource.GPU > 0 && cfg["gres"] == nil
		memory = memory || app.Roles[i].Resource.MemMB > 0 && cfg["nomem"] == nil
	}
	return version, memory
}

var (
	gresLine = pattern.Lazy(`(?m)^#SBATCH --gpus-per-node=(\d+)$`)
	memLine  = pattern.Lazy(`(?m)^#SBATCH --mem=\d+M\n`)
)

// Adapt returns a script for a cluster: before Slurm 24.11 GPUs are requested per task, and in a
// partition without configured memory none is requested.
func Adapt(script string, c Cluster, gpus, memory bool) string {
	head, rest, _ := strings.Cut(script, "\nset -u\n") // the directives are before
	if gpus && (c.Major < 24 || c.Major == 24 && c.Minor < 11) {
		head = gresLine().ReplaceAllString(head, "#SBATCH --"+gresPerTask+"=$1")
	}
	if memory && c.NoMemory {
		head = memLine().ReplaceAllString(head, "")
	}
	return head + "\nset -u\n" + rest
}

// minMemory is the configured memory, in MB, up to which TorchX takes it as not configured.
const minMemory = 1000

// NoMemory reads `sinfo --noheader --format=%P,%m --noconvert` and reports whether a partition
// ("": the default one, marked with *) has no useful configured memory.
func NoMemory(out, partition string) bool {
	for line := range strings.Lines(out) {
		name, memory, ok := strings.Cut(strings.TrimSpace(line), ",")
		isDefault := strings.HasSuffix(name, "*")
		if !ok || strings.TrimSuffix(name, "*") != partition && (partition != "" || !isDefault) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(memory, "+"))
		return err == nil && n <= minMemory
	}
	return false
}
