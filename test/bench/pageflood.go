package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// pages is the number of browsers that follow an app.
const pages = 50

// floods measure what open pages cost an app that floods: its time, which a busy machine blurs, and
// the CPU time of the server, which it does not.
func (b *pageBench) floods(w *environment, s sizes) []bench {
	flooded := w.in("paged")
	program := fmt.Sprintf("seq -f %%.0f%s %d", strings.Repeat("x", 90), s.log/100)
	watched, took := b.watchedFlood(flooded, program), 0.0
	return []bench{
		{
			name: fmt.Sprintf("flood with %d pages open", pages), goal: "< 1.03x", floorName: "the same without pages", runs: s.runs, paired: true,
			prepare: func() (side, side, error) { return watched, flooded.floodTorchx(program), b.start(flooded) },
		},
		{
			name: "CPU time of the server", goal: "< 0.06x", floorName: "the time of that flood", runs: min(s.runs, 5), paired: true,
			prepare: func() (side, side, error) {
				server := func() (used float64, err error) {
					pid, err := serverPID(flooded)
					if err != nil {
						return 0, err
					}
					before, err := cpuTicks(pid)
					if err != nil {
						return 0, &missingError{err}
					}
					if took, err = watched(); err != nil {
						return 0, err
					}
					after, err := cpuTicks(pid)
					return (after - before) / ticks, err
				}
				return server, func() (float64, error) { return took, nil }, b.start(flooded)
			},
		},
	}
}

// serverPID returns the process that serves the page of a home.
func serverPID(w *environment) (int, error) {
	text, err := os.ReadFile(filepath.Join(w.home, "ui.json"))
	if err != nil {
		return 0, err
	}
	var info struct{ PID int }
	err = json.Unmarshal(text, &info)
	return info.PID, err
}

// watchedFlood measures the time of an app that pages follow, without deleting its log.
func (b *pageBench) watchedFlood(w *environment, program string) side {
	return func() (float64, error) {
		var followers sync.WaitGroup
		var streams []*http.Response
		start := time.Now()
		handle, err := w.start("-c '"+program+"'", 1, "")
		if err != nil {
			return 0, err
		}
		id := path.Base(handle)
		for len(streams) < pages && err == nil {
			var stream *http.Response
			if stream, err = b.request(w, "/api/v1/stream?watch=run:"+id+"&watch=log:"+id); err == nil {
				streams = append(streams, stream) //nolint:bodyclose // closed below
				followers.Go(func() { b.follow(w, stream.Body, id) })
			}
		}
		err = errors.Join(err, w.sh("exec "+w.bin+" wait "+handle))
		took := time.Since(start)
		for _, stream := range streams {
			stream.Body.Close()
		}
		followers.Wait()
		return took.Seconds(), errors.Join(err, w.sh("exec "+w.bin+" delete -f "+handle))
	}
}

// follow asks what a page asks at each event, until the stream is closed.
func (b *pageBench) follow(w *environment, stream io.Reader, id string) {
	run, line := "/api/v1/runs/"+id, int64(1)
	for s := bufio.NewScanner(stream); s.Scan(); {
		var err error
		switch s.Text() {
		case "event: run", "event: hello":
			err = b.get(w, run+"/status")
		case "event: log":
			line, err = b.grown(w, fmt.Sprintf("%s/log?attempt=all&tail=400&line=%d", run, line))
		}
		if err != nil {
			return // the app was deleted
		}
	}
}

// grown reads a part of a log and returns the line that follows.
func (b *pageBench) grown(w *environment, path string) (next int64, err error) {
	answer, err := b.request(w, path)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text := bufio.NewReader(answer.Body)
	var total int64
	if _, err := fmt.Fscanf(text, `{"total":%d,`, &total); err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, text)
	return total + 1, err
}
