package main

import "fmt"

// scans benchmarks patterns over the log of one replica, in lines of 100 bytes: reading the log
// costs the same without a match.
func (w *environment) scans(s sizes) []bench {
	var handle, file string
	row := func(name, pattern string) bench {
		return bench{
			name: name, goal: "200 MB/s", floorName: "cat of the same bytes", runs: min(s.runs, 5), bytes: s.log,
			prepare: func() (side, side, error) {
				if handle == "" {
					var err error
					if handle, file, err = w.makeLog(s.log); err != nil {
						return nil, nil, err
					}
				}
				return w.torchx(fmt.Sprintf("metrics %s --pattern '%s' > /dev/null", handle, pattern)), w.command("cat " + file + " > /dev/null"), nil
			},
		}
	}
	return []bench{
		row("metrics --pattern, few lines match", `n=77(7[0-9]*) x`),
		row("metrics --pattern, all lines match", `n=^([0-9]+) x`),
	}
}
