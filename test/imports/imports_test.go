// Package imports checks that the imports between the packages of this module go one way,
// by folder and by package, with the output of `go list`. Tests may import any package.
package imports

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

type pkg struct {
	ImportPath string
	Imports    []string
}

// folders lists, for each top-level folder, the others that its packages may
// import: cmd → {starlark, backends, state} → runtime, and nothing back. Test
// support (test/...) is only for tests and for packages below test.
var folders = map[string][]string{
	"cmd":        {"starlark", "backends", "state", "runtime", "components", "clients", "docs"},
	"starlark":   {"runtime"},
	"backends":   {"runtime"},
	"state":      {"runtime"},
	"runtime":    {},
	"components": {},
	"clients":    {},
	"docs":       {},
	"test":       {"cmd", "starlark", "backends", "state", "runtime", "components", "docs"},
}

// allowed lists, for each package that is not below cmd or test, the packages of this
// module that it may import. A name that ends in "/..." includes all packages below it.
var allowed = map[string][]string{
	"runtime/agent":            {"runtime/backend", "runtime/cgroup", "runtime/failpoint", "runtime/filelock", "runtime/history", "runtime/logstore", "runtime/machine", "runtime/metrics", "runtime/metrics/collect", "runtime/policy", "runtime/procs", "runtime/safefile", "runtime/sample", "runtime/spec"},
	"runtime/backend":          {"runtime/config", "runtime/history", "runtime/humanize", "runtime/pattern", "runtime/safefile", "runtime/sample", "runtime/spec", "runtime/sweep"},
	"runtime/cgroup":           {},
	"runtime/config":           {"runtime/humanize", "runtime/safefile", "runtime/spec"},
	"runtime/consent":          {"runtime/pattern", "runtime/safefile"},
	"runtime/failpoint":        {},
	"runtime/filelock":         {"runtime/safefile"},
	"runtime/history":          {"runtime/humanize", "runtime/pattern", "runtime/spec"},
	"runtime/humanize":         {},
	"runtime/library":          {"runtime/humanize", "runtime/library/git", "runtime/safefile"},
	"runtime/library/git":      {},
	"runtime/logstore":         {"runtime/backend", "runtime/safefile", "runtime/spec"},
	"runtime/logview":          {"runtime/backend"},
	"runtime/logview/position": {"runtime/backend", "runtime/history", "runtime/spec"},
	"runtime/machine":          {},
	"runtime/metrics":          {"runtime/filelock", "runtime/humanize", "runtime/pattern", "runtime/safefile"},
	"runtime/metrics/collect":  {"runtime/backend", "runtime/filelock", "runtime/history", "runtime/logstore", "runtime/metrics", "runtime/pattern", "runtime/safefile", "runtime/spec", "runtime/tfevents"},
	"runtime/onend":            {"runtime/agent", "runtime/backend", "runtime/consent", "runtime/filelock", "runtime/humanize", "runtime/logstore", "runtime/logview", "runtime/pattern", "runtime/safefile", "runtime/secrets", "runtime/spec"},
	"runtime/outcome":          {"runtime/spec"},
	"runtime/outputs":          {"runtime/safefile"},
	"runtime/overlay":          {"runtime/spec"},
	"runtime/pattern":          {"runtime/humanize"},
	"runtime/policy":           {"runtime/outcome", "runtime/spec"},
	"runtime/portable":         {"runtime/backend", "runtime/history", "runtime/safefile", "runtime/spec", "runtime/tarball"},
	"runtime/procs":            {},
	"runtime/provenance":       {"runtime/filelock", "runtime/history", "runtime/safefile"},
	"runtime/runner":           {"runtime/backend", "runtime/config", "runtime/failpoint", "runtime/history", "runtime/humanize", "runtime/logview", "runtime/metrics", "runtime/metrics/collect", "runtime/pattern", "runtime/procs", "runtime/secrets", "runtime/spec", "runtime/sweep"},
	"runtime/safefile":         {},
	"runtime/sample":           {"runtime/procs", "runtime/safefile", "runtime/spec"},
	"runtime/secrets":          {"runtime/pattern"},
	"runtime/spec":             {"runtime/humanize", "runtime/pattern"},
	"runtime/sweep":            {"runtime/history", "runtime/humanize", "runtime/metrics", "runtime/spec"},
	"runtime/tarball":          {"runtime/safefile"},
	"runtime/tfevents":         {},
	"runtime/usage":            {"runtime/backend", "runtime/history", "runtime/procs", "runtime/runner", "runtime/sample", "runtime/spec"},

	"starlark/analysis":   {"runtime/humanize", "starlark/component", "starlark/interp", "starlark/specmodule", "starlark/starfiles", "starlark/startest", "starlark/token"},
	"starlark/component":  {"runtime/config", "runtime/humanize", "runtime/pattern", "runtime/spec", "starlark/interp", "starlark/specmodule"},
	"starlark/explain":    {"starlark/token"},
	"starlark/interp":     {"runtime/humanize", "runtime/pattern", "runtime/procs", "starlark/explain"},
	"starlark/lsp":        {"runtime/safefile", "starlark/analysis", "starlark/interp", "starlark/starfiles", "starlark/starlint"},
	"starlark/migrate":    {"runtime/humanize", "runtime/pattern", "starlark/specmodule", "starlark/starfiles"},
	"starlark/pages":      {"starlark/component", "starlark/starfiles"},
	"starlark/specmodule": {"runtime/humanize", "runtime/overlay", "runtime/spec"},
	"starlark/starfiles":  {"starlark/interp", "starlark/token"},
	"starlark/starlint":   {"runtime/humanize", "runtime/pattern", "starlark/analysis", "starlark/component", "starlark/explain", "starlark/interp", "starlark/specmodule", "starlark/starfiles"},
	"starlark/startest":   {"runtime/pattern", "runtime/spec", "starlark/component", "starlark/interp", "starlark/specmodule", "starlark/starfiles"},
	"starlark/token":      {},

	"backends/all":                   {"backends/...", "runtime/agent", "runtime/backend"},
	"backends/archive":               {"runtime/agent", "runtime/backend", "runtime/filelock", "runtime/logstore", "runtime/safefile", "runtime/spec"},
	"backends/docker":                {"backends/docker/image", "backends/driver", "backends/hostaccess", "backends/logcopy", "backends/remote", "backends/supervised", "backends/ttypipe", "backends/workspace", "runtime/agent", "runtime/backend", "runtime/cgroup", "runtime/humanize", "runtime/logstore", "runtime/machine", "runtime/pattern", "runtime/procs", "runtime/safefile", "runtime/sample", "runtime/spec"},
	"backends/docker/image":          {"backends/workspace", "runtime/backend", "runtime/pattern"},
	"backends/driver":                {"runtime/agent", "runtime/backend", "runtime/history", "runtime/runner"},
	"backends/hostaccess":            {},
	"backends/imported":              {"backends/driver", "runtime/backend", "runtime/history", "runtime/logstore", "runtime/portable", "runtime/spec"},
	"backends/kubernetes":            {"backends/archive", "backends/driver", "backends/kubernetes/kube", "backends/kubernetes/manifest", "backends/kubernetes/observe", "backends/kubernetes/podarchive", "backends/logcopy", "backends/remote", "backends/workspace", "runtime/backend", "runtime/consent", "runtime/logstore", "runtime/metrics", "runtime/metrics/collect", "runtime/outcome", "runtime/pattern", "runtime/sample", "runtime/spec"},
	"backends/kubernetes/kube":       {"runtime/backend", "runtime/safefile"},
	"backends/kubernetes/manifest":   {"backends/hostaccess", "backends/kubernetes/kube", "backends/workspace", "runtime/backend", "runtime/history", "runtime/humanize", "runtime/overlay", "runtime/safefile", "runtime/spec"},
	"backends/kubernetes/observe":    {"backends/kubernetes/kube", "runtime/humanize", "runtime/outcome", "runtime/pattern", "runtime/spec"},
	"backends/kubernetes/podarchive": {"backends/logcopy", "runtime/backend", "runtime/filelock", "runtime/history", "runtime/logstore", "runtime/logview", "runtime/metrics/collect", "runtime/safefile", "runtime/sample", "runtime/spec"},
	"backends/local":                 {"backends/driver", "backends/local/inside", "backends/local/proc", "backends/supervised", "backends/ttypipe", "runtime/agent", "runtime/backend", "runtime/cgroup", "runtime/failpoint", "runtime/logstore", "runtime/machine", "runtime/safefile", "runtime/spec", "runtime/tarball"},
	"backends/local/inside":          {"runtime/backend", "runtime/procs", "runtime/spec"},
	"backends/local/proc":            {"backends/ttypipe", "runtime/agent", "runtime/backend", "runtime/cgroup", "runtime/failpoint", "runtime/logstore", "runtime/machine", "runtime/procs", "runtime/safefile", "runtime/sample", "runtime/spec"},
	"backends/logcopy":               {"runtime/filelock", "runtime/logstore", "runtime/safefile"},
	"backends/remote":                {"runtime/backend", "runtime/spec"},
	"backends/slurm":                 {"backends/archive", "backends/driver", "backends/logcopy", "backends/remote", "backends/slurm/client", "backends/slurm/folder", "backends/slurm/job", "backends/slurm/observe", "backends/slurm/script", "runtime/agent", "runtime/backend", "runtime/failpoint", "runtime/logstore", "runtime/metrics/collect", "runtime/pattern", "runtime/procs", "runtime/safefile", "runtime/sample", "runtime/spec"},
	"backends/slurm/client":          {"backends/slurm/job", "runtime/backend"},
	"backends/slurm/folder":          {"runtime/backend", "runtime/history", "runtime/logstore", "runtime/safefile", "runtime/spec"},
	"backends/slurm/job":             {"runtime/spec"},
	"backends/slurm/observe":         {"backends/slurm/folder", "backends/slurm/job", "runtime/history", "runtime/outcome", "runtime/pattern", "runtime/spec"},
	"backends/slurm/script":          {"backends/slurm/folder", "backends/workspace", "runtime/backend", "runtime/pattern", "runtime/safefile", "runtime/spec"},
	"backends/supervised":            {"backends/ttypipe", "runtime/agent", "runtime/backend", "runtime/failpoint", "runtime/logstore", "runtime/metrics/collect", "runtime/safefile", "runtime/spec"},
	"backends/sweep":                 {"backends/driver", "backends/supervised", "runtime/agent", "runtime/backend", "runtime/failpoint", "runtime/filelock", "runtime/history", "runtime/humanize", "runtime/logview", "runtime/metrics", "runtime/outcome", "runtime/runner", "runtime/safefile", "runtime/spec", "runtime/sweep"},
	"backends/ttypipe":               {"runtime/backend"},
	"backends/workspace":             {"runtime/backend", "runtime/safefile", "runtime/spec"},
	"clients":                        {},
	"docs":                           {},

	"state": {"runtime/failpoint", "runtime/filelock", "runtime/history", "runtime/spec", "runtime/sweep"},

	"components": {},
}

// shared lists, for each package that groups of commands share, the packages below cmd/internal
// that it may import. Each other package there implements a group of commands.
var shared = map[string][]string{
	"apps":        {"program", "ui"},
	"follow":      {"program", "tty", "ui"},
	"grammar":     {"ui"},
	"page/api":    {"grammar", "page/stream", "program", "ui"},
	"page/stream": {},
	"planning":    {"program", "ui"},
	"program":     {"grammar", "ui"},
	"tty":         {"ui"},
	"ui":          {},
	"ui/plot":     {"ui"},
}

// extraImports lists the groups of commands that another may import: completion knows the orders of
// top and the axes of metrics, and status links to the page.
var extraImports = map[string][]string{"manual": {"results", "top"}, "status": {"page"}}

// external lists the packages of this module that may import another module, by its prefix.
var external = map[string][]string{
	"go.starlark.net/":          {"starlark/"},
	"modernc.org/sqlite":        {"state"},
	"github.com/sourcegraph/":   {"starlark/lsp"},
	"github.com/urfave/cli/":    {"cmd/"},
	"github.com/clipperhouse/":  {"cmd/internal/ui"},
	"github.com/docker/docker/": {"backends/docker", "test/enginetest"},
	"github.com/creack/pty":     {"backends/local/inside", "backends/local/proc", "test/picture"},
	"k8s.io/":                   {"backends/kubernetes", "test/clustertest"},
	"github.com/bazelbuild/":    {"starlark/starfiles", "starlark/starlint"},
}

func TestImportsGoDown(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "torchx/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		seen++
		check(t, strings.TrimPrefix(p.ImportPath, "torchx/"), p.Imports)
	}
	if seen < len(allowed) {
		t.Errorf("got %d packages from go list, want the %d of the rules", seen, len(allowed))
	}
}

func check(t *testing.T, name string, imports []string) {
	t.Helper()
	for _, i := range imports {
		if ours, isOurs := strings.CutPrefix(i, "torchx/"); isOurs {
			checkFolder(t, name, ours)
			checkPackage(t, name, ours)
			checkCommands(t, name, ours)
		}
		for module, users := range external {
			if strings.HasPrefix(i, module) && !under(name, append(users, "test/bench/floor")) {
				t.Errorf("%s may not import %s", name, i)
			}
		}
	}
	if _, ok := allowed[name]; !ok && !isTop(name) {
		t.Errorf("package %s has no rule: list its imports in this file", name)
	}
}

func checkFolder(t *testing.T, name, other string) {
	t.Helper()
	from, to := folderOf(name), folderOf(other)
	may, ok := folders[from]
	if !ok {
		t.Errorf("folder %s of package %s has no rule: list its imports in this file", from, name)
	}
	if from != to && !slices.Contains(may, to) {
		t.Errorf("%s may not import %s: folder %s imports only %q of the other folders", name, other, from, may)
	}
}

func checkPackage(t *testing.T, name, other string) {
	t.Helper()
	if isTop(name) {
		return
	}
	for _, a := range allowed[name] {
		tree, ok := strings.CutSuffix(a, "/...")
		if a == other || ok && (other == tree || strings.HasPrefix(other, tree+"/")) {
			return
		}
	}
	t.Errorf("%s may not import %s: its rule is %q", name, other, allowed[name])
}

// checkCommands checks the imports between packages below cmd/internal: groups of commands
// import only shared packages, and only main imports them.
func checkCommands(t *testing.T, name, other string) {
	t.Helper()
	to, isInternal := strings.CutPrefix(other, "cmd/internal/")
	from, fromInternal := strings.CutPrefix(name, "cmd/internal/")
	if !isInternal || !fromInternal {
		return
	}
	may, isShared := shared[from]
	if !isShared {
		may = append(slices.Collect(maps.Keys(shared)), extraImports[from]...)
	}
	if !slices.Contains(may, to) {
		t.Errorf("%s may not import %s: of the packages below cmd/internal it imports only %q", name, other, may)
	}
}

func folderOf(name string) string {
	folder, _, _ := strings.Cut(name, "/")
	return folder
}

// isTop reports whether only the rule of its folder applies to a package.
func isTop(name string) bool { return name == "test" || under(name, []string{"cmd/", "test/"}) }

func under(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
