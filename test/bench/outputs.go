package main

import "path/filepath"

// outputFiles is how many files the app of the benchmarks of outputs wrote.
const outputFiles = "100000"

// outputs benchmarks the listing of an app's files.
func (w *environment) outputs(runs int) []bench {
	return []bench{{
		name: "output of 100,000 files", goal: "< 3x", floorName: "find -printf | sort", runs: runs,
		prepare: func() (side, side, error) {
			w := w.in("outputs")
			handle, err := w.run("-c 'cd $TORCHX_OUTPUT && mkdir a b && seq -f a/%.0f 1 2 "+outputFiles+" | xargs touch && seq -f b/%.0f 2 2 "+outputFiles+" | xargs touch'", "")
			if err != nil {
				return nil, nil, err
			}
			all := filepath.Join(w.home, "apps", "*", "output")
			return w.torchx("output " + handle + " > /dev/null"), w.command("LC_ALL=C find " + all + ` -printf '%s %t %P\n' | LC_ALL=C sort -k 7 > /dev/null`), nil
		},
	}}
}
