package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Size of the component tests.
const (
	testFiles    = 100
	testsPerFile = 100
)

// testedComponent is loaded by each test file.
const testedComponent = `
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

// componentTests runs 10,000 tests, each of which builds and checks an app. The floor
// builds the same apps without tests, while the files are loaded.
func (w *environment) componentTests(runs int) bench {
	return bench{
		name: fmt.Sprintf("%d component tests", testFiles*testsPerFile), goal: "< 1000 ms", runs: runs,
		floorName: "the same calls while the files are loaded",
		prepare: func() (side, side, error) {
			dir := filepath.Join(w.dir, "componenttests")
			tests, plain := filepath.Join(dir, "tests"), filepath.Join(dir, "plain")
			if err := writeTests(tests, testFile); err != nil {
				return nil, nil, err
			}
			if err := writeTests(plain, plainFile); err != nil {
				return nil, nil, err
			}
			return w.torchx("component test " + tests), w.torchx("component test " + plain), nil
		},
	}
}

// writeTests writes the component and test files with the text that content returns.
func writeTests(dir string, content func() string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "train.star"), []byte(testedComponent), 0o600); err != nil {
		return err
	}
	text := []byte(content())
	for i := range testFiles {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d_test.star", i)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func testFile() string {
	var b strings.Builder
	b.WriteString("load(\"./train.star\", \"train\")\n")
	for i := range testsPerFile {
		fmt.Fprintf(&b, "\ndef test_%[1]d(t):\n    app = train(\"x%[1]d.py\", nodes = 3)\n"+
			"    t.eq(app.roles[0].args, [\"x%[1]d.py\"])\n    t.eq(app.roles[0].num_replicas, 3)\n", i)
	}
	return b.String()
}

func plainFile() string {
	return fmt.Sprintf("load(\"./train.star\", \"train\")\n\nX = [train(\"x%%d.py\" %% i, nodes = 3) for i in range(%d)]\n", testsPerFile)
}
