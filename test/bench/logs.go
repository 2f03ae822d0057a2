package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// logs benchmarks reading the complete log of one replica, in lines of 100 bytes.
func (w *environment) logs(s sizes) []bench {
	var handle, file string
	var end time.Time
	line := func(name, goal, args string, small bool) bench {
		b := bench{name: name, goal: goal, floorName: "cat of the same bytes", runs: min(s.runs, 5), bytes: s.log}
		if small {
			b.bytes, b.floorName, b.runs = 0, libraries, s.runs
		}
		b.prepare = func() (side, side, error) {
			if handle == "" {
				var err error
				if handle, file, err = w.makeLog(s.log); err != nil {
					return nil, nil, err
				}
				end = time.Now()
			}
			floor := w.command("cat " + file + " > /dev/null")
			if small {
				floor = w.command(w.floor())
			}
			text := strings.NewReplacer("HANDLE", handle, "END", end.Format(time.RFC3339Nano)).Replace(args)
			return w.torchx("log " + text + " > /dev/null"), floor, nil
		}
		return b
	}
	return []bench{
		line("log, one replica", "> 0.6x", "HANDLE/sh/0", false),
		line("log, with prefixes", "400 MB/s", "HANDLE", false),
		line("log --regex, with prefixes", "200 MB/s", "HANDLE --regex 7777", false),
		line("log --since", "< 20 ms", "HANDLE --since END", true),
		line("log -n 10", "", "HANDLE -n 10", true),
		line("log --line", "", fmt.Sprintf("HANDLE --line %d:%d", s.log/200, s.log/200+9), true),
	}
}

// makeLog runs an app that prints size bytes, once.
func (w *environment) makeLog(size int64) (handle, file string, err error) {
	if w.log.handle != "" {
		return w.log.handle, w.log.file, nil
	}
	logs := filepath.Join(w.dir, "logs")
	handle, err = w.run(fmt.Sprintf(`-c 'seq -f "%%07.0f %s" %d'`, strings.Repeat("x", 91), size/100), "-cfg log_dir="+logs)
	id := handle[strings.LastIndexByte(handle, '/')+1:]
	if err == nil {
		w.log.handle, w.log.file = handle, filepath.Join(logs, "torchx", id,
			"sh", "0", "stdout.log")
	}
	return w.log.handle, w.log.file, err
}
