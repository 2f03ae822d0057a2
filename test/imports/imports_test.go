// Package imports checks that imports between the packages of this module go
// one way. It reads the whole picture from `go list`, tests included where a rule
// says so.
package imports

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

type pkg struct {
	ImportPath string
	Imports    []string
}

// allowed lists, for each package of ours, the packages of ours it may import; a
// name that ends in "/..." stands for all below it. cmd may import everything.
var allowed = map[string][]string{
	"runtime/lazyregexp":          {},
	"runtime/spec":                {},
	"runtime/kv":                  {},
	"runtime/suggest":             {},
	"runtime/overlay":             {"runtime/spec"},
	"runtime/procs":               {},
	"runtime/cgroup":              {},
	"runtime/secrets":             {"runtime/lazyregexp"},
	"runtime/failpoint":           {},
	"runtime/config":              {"runtime/suggest", "runtime/spec", "runtime/kv"},
	"runtime/library":             {"runtime/library/git", "runtime/suggest"},
	"runtime/library/git":         {},
	"runtime/logstore":            {"runtime/backend"},
	"runtime/logview":             {"runtime/backend", "runtime/spec"},
	"runtime/agent":               {"runtime/spec", "runtime/procs", "runtime/logstore", "runtime/failpoint", "state", "runtime/cgroup", "runtime/machine"},
	"runtime/runner":              {"runtime/backend", "state", "runtime/spec", "runtime/config", "runtime/suggest", "runtime/procs", "runtime/failpoint", "runtime/secrets", "runtime/lazyregexp"},
	"starlark/interp":             {"runtime/lazyregexp"},
	"starlark/specmodule":         {"runtime/spec", "runtime/suggest", "runtime/overlay", "runtime/kv"},
	"starlark/analysis":           {"starlark/specmodule", "starlark/component", "starlark/interp", "starlark/startest", "starlark/starfiles", "runtime/suggest"},
	"starlark/component":          {"starlark/interp", "starlark/specmodule", "runtime/spec", "runtime/suggest", "runtime/kv", "runtime/units", "runtime/lazyregexp"},
	"starlark/pages":              {"starlark/component"},
	"starlark/migrate":            {"starlark/specmodule", "starlark/starfmt", "runtime/suggest", "runtime/lazyregexp"},
	"starlark/lsp":                {"starlark/analysis", "starlark/interp", "starlark/starfmt", "starlark/starlint"},
	"components":                  {},
	"state":                       {"runtime/spec", "runtime/failpoint"},
	"runtime/backend":             {"runtime/spec", "runtime/kv", "runtime/suggest", "runtime/lazyregexp"},
	"backends/local":              {"runtime/backend", "backends/bundled", "runtime/spec", "runtime/agent", "runtime/logstore", "backends/local/proc", "runtime/failpoint", "runtime/machine", "backends/local/ttypipe", "runtime/cgroup"},
	"backends/local/proc":         {"runtime/spec", "runtime/agent", "runtime/logstore", "runtime/procs", "runtime/failpoint", "backends/local/ttypipe", "runtime/cgroup"},
	"backends/local/ttypipe":      {},
	"backends/all":                {"backends/...", "runtime/agent"},
	"runtime/machine":             {},
	"backends/docker":             {"runtime/backend", "runtime/spec", "runtime/agent", "runtime/logstore", "runtime/failpoint", "backends/bundled", "backends/docker/...", "backends/docker/image", "backends/workspace", "runtime/lazyregexp"},
	"backends/kubernetes":         {"runtime/backend", "runtime/spec", "runtime/agent", "runtime/logstore", "runtime/overlay", "backends/workspace", "backends/kubernetes/..."},
	"backends/kubernetes/kube":    {"runtime/backend"},
	"backends/kubernetes/label":   {},
	"backends/docker/image":       {"runtime/backend", "runtime/spec", "backends/workspace", "runtime/lazyregexp"},
	"backends/workspace":          {"runtime/backend", "runtime/spec"},
	"backends/kubernetes/observe": {"runtime/spec", "backends/kubernetes/kube", "backends/kubernetes/label"},
	"backends/kubernetes/podlog":  {},
	"backends/kubernetes/archive": {"runtime/backend", "runtime/spec", "runtime/agent", "runtime/logstore", "runtime/procs", "backends/kubernetes/podlog"},
	"backends/bundled":            {"runtime/backend", "runtime/spec", "runtime/agent", "runtime/logstore", "runtime/failpoint"},
	"starlark/starfiles":          {},
	"starlark/starfmt":            {"starlark/interp"},
	"starlark/starlint":           {"starlark/interp", "starlark/specmodule", "starlark/component", "starlark/starfiles", "runtime/suggest", "runtime/lazyregexp"},
	"runtime/units":               {},
	"starlark/startest":           {"starlark/interp", "starlark/specmodule", "starlark/component", "starlark/starfiles", "runtime/spec", "runtime/lazyregexp"},
}

// external lists the packages of ours that may import a module, by its prefix.
var external = map[string][]string{
	"go.starlark.net/":          {"starlark/"},
	"modernc.org/sqlite":        {"state"},
	"github.com/sourcegraph/":   {"starlark/lsp"},
	"github.com/urfave/cli/":    {"cmd/torchx"},
	"github.com/docker/docker/": {"backends/docker", "test/enginetest"},
	"github.com/creack/pty":     {"backends/local/proc"},
	"k8s.io/":                   {"backends/kubernetes", "test/clustertest"},
	"github.com/bazelbuild/":    {"starlark/starfmt", "starlark/starlint"},
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
		t.Errorf("go list shows %d packages, the rules name %d", seen, len(allowed))
	}
}

func check(t *testing.T, name string, imports []string) {
	t.Helper()
	for _, i := range imports {
		ours, isOurs := strings.CutPrefix(i, "torchx/")
		if isOurs && !mayImport(name, ours) {
			t.Errorf("%s may not import %s", name, ours)
		}
		for module, users := range external {
			if strings.HasPrefix(i, module) && !under(name, append(users, "test/bench/floor")) {
				t.Errorf("%s may not import %s", name, i)
			}
		}
	}
	if _, ok := allowed[name]; !ok && !under(name, []string{"cmd/", "test/"}) {
		t.Errorf("package %s has no rule: say in this file what it may import", name)
	}
}

func mayImport(name, other string) bool {
	if under(name, []string{"cmd/", "test/"}) {
		return true
	}
	for _, a := range allowed[name] {
		tree, ok := strings.CutSuffix(a, "/...")
		if a == other || ok && (other == tree || strings.HasPrefix(other, tree+"/")) {
			return true
		}
	}
	return false
}

func under(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
