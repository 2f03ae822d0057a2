// Package cleanenv makes tests independent of the variables that a user's shell sets. Tests
// import it for its effect: at the start it removes the variables that change what torchx, and
// the programs that tests run, do, and leaves a TMPDIR in which no program may run. Test binaries
// that run as a helper of a test keep the environment that the test gave them.
package cleanenv

import (
	"os"
	"slices"
	"strings"
)

// names and prefixes are the variables that are removed.
var (
	names = []string{
		"TORCHXCONFIG", "TORCHX_HOME", "TORCHX_IMAGE", "TORCHX_INTERNAL_SESSION_ID", "TORCHX_JOB_ID", "TORCHX_METRICS", "TORCHX_OFFLINE",
		"TORCHX_OUTPUT", "TORCHX_PARENT_RUN_ID", "TORCHX_RANK0_HOST", "TORCHX_TRACKERS", "TORCHX_TRIAL",
		"BASH_ENV", "BROWSER", "CDPATH", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "CUDA_VISIBLE_DEVICES", "EDITOR", "ENV", "FORCE_COLOR",
		"LANGUAGE", "LINES", "LOCAL_RANK", "LOGLEVEL", "MASTER_ADDR", "MASTER_PORT", "NO_COLOR", "PAGER", "POSIXLY_CORRECT", "RANK",
		"SSL_CERT_DIR", "SSL_CERT_FILE", "VISUAL", "WORLD_SIZE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
		"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "https_proxy", "http_proxy", "no_proxy",
	}
	prefixes = []string{"GIT_", "PYTHON"}
	// clusters are removed unless TORCHX_REQUIRE names the part, whose tests use what they name.
	clusters = map[string][]string{
		"docker": {"DOCKER_"}, "kubernetes": {"KUBECONFIG", "KUBERNETES_"},
		"slurm": {"SACCT", "SBATCH_", "SCONTROL_", "SINFO_", "SLURM_", "SQUEUE_", "SRUN_"},
	}
)

func init() { //nolint:gochecknoinits // before any test, and before TestMain
	if !isTestBinary() {
		return
	}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); isForeign(name) {
			_ = os.Unsetenv(name)
		}
	}
}

// isTestBinary reports whether `go test` started this process.
func isTestBinary() bool {
	return slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.paniconexit0") })
}

// isForeign reports whether tests do without a variable.
func isForeign(name string) bool {
	removed := prefixes
	for part, more := range clusters {
		if !slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), part) {
			removed = slices.Concat(removed, more)
		}
	}
	return slices.Contains(names, name) || slices.ContainsFunc(removed, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
