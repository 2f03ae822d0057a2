//go:build unix

package kubernetes

import (
	"regexp"
	"testing"

	"torchx/test/clustertest"
)

// TestMetrics: what a pod appends to $TORCHX_METRICS and what it prints become metrics, in every
// form.
func TestMetrics(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const program = `for i in 1 2 3; do echo "{\"step\": $$i, \"loss\": 0.$$((6-i))}" >> $$TORCHX_METRICS; echo acc 0.$$i; done`
	for _, gang := range forms {
		cfg := "reserved_millicpu=2000,namespace=" + h.namespace + ",gang=" + gang
		r := h.torchx("run", "--wait", "-b", "kubernetes", "--workspace=", "-cfg", cfg, "--metric", `acc=acc (\S+)`,
			"utils.sh", "--image", clustertest.Image, "--", "sh", "-c", program)
		if r.code != 0 {
			t.Fatalf("%s: got %+v, want r.code == 0", gang, r)
		}
		r = h.torchx("metrics", "-")
		for _, want := range []string{`(?m)^acc +sh/0 +0.3 +0.1 +0.3 +3 .* log$`, `(?m)^loss +sh/0 +0.3 +0.3 +0.5 +3 +3 +file$`} {
			if r.code != 0 || !regexp.MustCompile(want).MatchString(r.stdout) {
				t.Errorf("%s: got %+v, want %s", gang, r, want)
			}
		}
	}
}
