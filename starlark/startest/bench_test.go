package startest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const benchComponent = `
def train(script, nodes = 1):
    return specs.AppDef(name = "train", roles = [specs.Role(
        name = "trainer",
        image = "img",
        entrypoint = "python",
        args = [script],
        num_replicas = nodes,
        resource = specs.resource(cpu = 1, memMB = 512),
    )])
`

const benchTest = `
def test_%[1]d(t):
    app = train("x%[1]d.py", nodes = 3)
    t.eq(app.roles[0].args, ["x%[1]d.py"])
    t.eq(app.roles[0].num_replicas, 3)
`

// BenchmarkTests runs 1,000 tests in 10 files.
func BenchmarkTests(b *testing.B) {
	dir := b.TempDir()
	var tasks []Task
	if err := os.WriteFile(filepath.Join(dir, "train.star"), []byte(benchComponent), 0o600); err != nil {
		b.Fatal(err)
	}
	for f := range 10 {
		var s strings.Builder
		s.WriteString("load(\"./train.star\", \"train\")\n")
		for i := range 100 {
			fmt.Fprintf(&s, benchTest, i)
		}
		name := fmt.Sprintf("f%d_test.star", f)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s.String()), 0o600); err != nil {
			b.Fatal(err)
		}
		tasks = append(tasks, Task{File: name})
	}
	for b.Loop() {
		passed := 0
		r, err := NewRunner(Host{Dir: dir}, Options{}, func(m Message) {
			if m.Test != nil && m.Test.Status == Pass {
				passed++
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		r.Run(b.Context(), tasks)
		if passed != 1000 {
			b.Fatalf("%d tests passed", passed)
		}
	}
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "tests/s")
}
