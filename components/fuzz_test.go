package components_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// jForm is the only accepted form of -j. In TorchX, the first two numbers may also be one
// number (fact 54).
var jForm = regexp.MustCompile(`^(?:(?:(\d+):)?(\d+)x)?(\d+)$`)

// FuzzJ checks dist.ddp's -j against jForm: an accepted -j gives that number of nodes, and a
// refused one an error of one line.
func FuzzJ(f *testing.F) {
	for _, seed := range []string{"1x2", "2:4x8", "4", "1x2x3", "axb", "", "01x02", "3:2x1", "1X2", "0x1", "1x2\n", "-1x2", "１x2", "1:x2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, j string) {
		app, _, err := build(t, nil, "dist.ddp", "-j="+j, "--script", "x.py")
		m := jForm.FindStringSubmatch(j)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("-j %q: %q has several lines", j, err)
			}
			if m != nil && valid(m) {
				t.Errorf("-j %q is refused: %v", j, err)
			}
			return
		}
		if m == nil {
			t.Fatalf("-j %q is accepted", j)
		}
		nodes := 1
		if m[2] != "" {
			nodes, _ = strconv.Atoi(m[2])
		}
		if role := app.Roles[0]; role.NumReplicas != nodes || *role.MinReplicas > nodes {
			t.Errorf("-j %q gives %d to %d nodes", j, *role.MinReplicas, role.NumReplicas)
		}
	})
}

// valid reports whether the numbers of a well-formed -j make sense.
func valid(m []string) bool {
	most, low, procs := 1, 1, 0
	for i, n := range map[int]*int{1: &low, 2: &most, 3: &procs} {
		if m[i] == "" {
			continue
		}
		v, err := strconv.Atoi(m[i])
		if err != nil || v > 1000 {
			return false // numbers that large are not compared
		}
		*n = v
	}
	if m[1] == "" {
		low = most
	}
	return low >= 1 && low <= most && procs >= 1
}
