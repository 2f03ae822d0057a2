package logstore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// TestRandomLogs compares random logs, read with random options, with the naive model.
func TestRandomLogs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, rng.IntN(400))
		for i := range data {
			data[i] = byte(rng.Uint32())
			if rng.IntN(3) > 0 {
				data[i] &^= 8 // make big chunks rare
			}
		}
		chunks := chunksOf(data)
		dir := filepath.Join(root, fmt.Sprint(seed))
		writeLog(t, dir, chunks)
		for range 20 {
			opts := make([]byte, 8)
			for i := range opts {
				opts[i] = byte(rng.Uint32())
			}
			if rng.IntN(2) == 0 {
				opts[4], opts[5] = opts[4]%32, opts[5]%64
			}
			o := optionsOf(opts)
			got, notices := collect(t, oneAttempt(dir), o)
			if len(notices) > 0 {
				t.Fatalf("got notices %q, want none", notices)
			}
			compare(t, fmt.Sprintf("seed %d, %+v", seed, o), got, naiveSelect(chunks, o))
		}
	}
}
