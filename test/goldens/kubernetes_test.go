package goldens

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// kubernetesRecordings are dry runs for Kubernetes; TestRecordings of its package manifest compares
// their values one by one.
const kubernetesRecordings = "../../backends/kubernetes/manifest/testdata/dryrun/*.kubernetes.json"

// kubernetesDifferences tell by the text "PATH: THEIRS -> OURS" to which row of
// torchx-differences.md a difference belongs.
var kubernetesDifferences = []struct{ row, text string }{
	{"`TORCHX_JOB_ID` on Kubernetes", `\.env\[\d+]\.value: "kubernetes://torchx/[^:]+ -> "kubernetes://torchx/[a-z0-9]+:`},
	{imageRow, `ghcr\.io/pytorch/torchx:0\.8\.0dev0`},
	{boothRow, `torchx\.apps\.utils\.booth_main|app\.roles\[0]\.entrypoint: "python" -> "sh"`},
	{boolRow, `(command|args)\[\d]: "False" -> "True"`},
	{optionalRow, `(command|args)\[\d+]: "'7'" -> "7"`},
	{argumentRow, `^exit_code: 1 -> 2`},
	{optionsRow, `^cfg\.\w+: nothing -> `},
	{portRow, `--rdzv_endpoint .* -> .*TORCHX_PORT_C10D:=\d+}`},
	{"memory request of a pod", `\.resources\.requests\.memory: `},
	{"namespace and labels of a Volcano Job", `^request\.metadata\.(namespace|labels): nothing -> `},
	{"label `version`", `\.labels\.torchx\.pytorch\.org/version: "0\.8\.0dev0" -> `},
	{"`maxRetry` of a Volcano Job", `^request\.spec\.maxRetry: `},
	{"`maxRetry` of a task", `\.tasks\[\d+]\.maxRetry: `},
	{"policies of a Volcano Job", `\.policies: `},
	{"retry policy `ROLE` on Kubernetes", `^(exit_code: 1 -> 0|(app|cfg|request): nothing -> .*(rolepolicy|"queue"))`},
	{"labels, Kubernetes names", `: "9app-bzx310r0jf6nh" -> "app-9app|\.labels\.[\w./-]+: "\.\w+" -> "\w+"`},
	{"pod overlay that removes a mounted volume", `^(exit_code: 0 -> 1|(app|cfg|request): .*-> nothing)$`},
}

// TestKubernetesRecordings: torchx plans what TorchX does, except for kubernetesDifferences.
func TestKubernetesRecordings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(kubernetesRecordings)
	must(t, err)
	if len(paths) != 33 {
		t.Errorf("got %d recordings, want 33", len(paths))
	}
	used := make([]bool, len(kubernetesDifferences))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must(t, err)
		var r recording
		must(t, json.Unmarshal(data, &r))
		for _, difference := range r.kubernetesDifferences(t) {
			i := slices.IndexFunc(kubernetesDifferences, func(d struct{ row, text string }) bool {
				return regexp.MustCompile(d.text).MatchString(difference)
			})
			if i < 0 {
				t.Errorf("%s: no row of torchx-differences.md for %s", filepath.Base(path), difference)
				continue
			}
			used[i] = true
			t.Logf("%s: %s: %s", kubernetesDifferences[i].row, filepath.Base(path), difference)
		}
	}
	for i, d := range kubernetesDifferences {
		if !used[i] {
			t.Errorf("no recording has a difference %q: remove the entry of %s", d.text, d.row)
		}
	}
}

// kubernetesDifferences plans the recorded command line and returns where the plan differs.
func (r *recording) kubernetesDifferences(t *testing.T) []string {
	s := newSandbox(t)
	o := s.torchx(t, r.Env, "", r.ourArgv()...)
	want := decode(t, s.fill(r.document())).(object)
	got := object{{"exit_code", json.Number(fmt.Sprint(o.code))}}
	if o.out != "" {
		got = append(got, decode(t, withRecordedID(o.out)).(object)...)
	}
	var all []string
	for _, part := range []string{"exit_code", "app", "cfg", "request"} {
		theirs, ours := want.get(part), got.get(part)
		if part == "request" {
			theirs, ours = volcanoJob(theirs, "resource"), volcanoJob(ours, "objects")
		}
		all = append(all, differ(part, theirs, ours)...)
	}
	return all
}

// withRecordedID replaces the random part of the app's ID.
func withRecordedID(text string) string {
	id := regexp.MustCompile(`"name": "[^"]*-(` + randomID + `)",\s+"namespace"`).FindStringSubmatch(text)
	if id == nil {
		return text
	}
	return strings.ReplaceAll(text, id[1], recordedID)
}

// volcanoJob returns the only object of a request.
func volcanoJob(request any, member string) any {
	o, ok := request.(object)
	if !ok {
		return nil
	}
	if list, ok := o.get(member).([]any); ok && len(list) == 1 {
		return list[0]
	}
	return o.get(member)
}

// differ returns the differences of two values as "PATH: THEIRS -> OURS". What means the same to
// Kubernetes is equal: an absent, an empty and a false member, and quantities in other units.
func differ(path string, theirs, ours any) (all []string) {
	a, isObject := theirs.(object)
	b, both := ours.(object)
	if isObject && both {
		keys := a.keys()
		for _, k := range b.keys() {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		for _, k := range keys {
			all = append(all, differ(join(path, k), a.get(k), b.get(k))...)
		}
		return all
	}
	x, isList := theirs.([]any)
	y, both := ours.([]any)
	if isList && both && len(x) == len(y) {
		for i := range x {
			all = append(all, differ(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])...)
		}
		return all
	}
	if shown(theirs) == shown(ours) || sameQuantity(path, theirs, ours) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s -> %s", path, shown(theirs), shown(ours))}
}

func shown(v any) string {
	switch s := text(v); s {
	case "null", "{}", "[]", "false":
		return "nothing"
	default:
		return s
	}
}

func sameQuantity(path string, a, b any) bool {
	n, isNumber := a.(json.Number)
	if m, both := b.(json.Number); isNumber && both {
		return sameNumber(n, m)
	}
	if !strings.Contains(path, ".resources.") {
		return false
	}
	x, errX := resource.ParseQuantity(strings.Trim(text(a), `"`))
	y, errY := resource.ParseQuantity(strings.Trim(text(b), `"`))
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
