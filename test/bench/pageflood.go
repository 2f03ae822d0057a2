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
	var took, cpu float64
	watched := func() (_ float64, err error) {
		took, cpu, err = b.flood(flooded, program, pages)
		return took, err
	}
	alone := func() (float64, error) {
		took, _, err := b.flood(flooded, program, 0)
		return took, err
	}
	return []bench{
		{
			name: fmt.Sprintf("flood with %d pages open", pages), goal: "< 1.03x", floorName: "the same without pages", runs: s.runs, paired: true,
			prepare: func() (side, side, error) { return watched, alone, b.start(flooded) },
		},
		{
			name: "CPU time of the server", goal: "< 0.03x", floorName: "the time of that flood", runs: min(s.runs, 5), paired: true,
			prepare: func() (side, side, error) {
				server := func() (float64, error) {
					_, err := watched()
					if err == nil && cpu < 0 {
						err = &missingError{errors.New("the CPU time of a process needs /proc")}
					}
					return cpu, err
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

// flood measures the time of an app that floods once pages show it, and the CPU time of the server
// meanwhile, negative if it is unknown. The log is deleted afterwards.
func (b *pageBench) flood(
	w *environment, program string, pages int,
) (took, cpu float64, err error) {
	start := filepath.Join(w.dir, "start")
	if err := w.sh("rm -f " + start + "; mkfifo " + start); err != nil {
		return 0, 0, err
	}
	handle, err := w.start("-c 'read go < "+start+"; "+program+"'", 1, "")
	if err != nil {
		return 0, 0, err
	}
	followers, err := b.open(w, path.Base(handle), pages)
	pid, noPID := serverPID(w)
	before, noTicks := cpuTicks(pid)
	began := time.Now()
	err = errors.Join(err, noPID, w.sh("echo go > "+start+"; exec "+w.bin+" wait "+handle))
	took = time.Since(began).Seconds()
	after, _ := cpuTicks(pid) // as before
	cpu = (after - before) / ticks
	if noTicks != nil {
		cpu = -1
	}
	followers.close()
	return took, cpu, errors.Join(err, w.sh("exec "+w.bin+" delete -f "+handle))
}

// followers are pages that follow an app.
type followers struct {
	sync.WaitGroup
	streams []*http.Response
}

func (f *followers) close() {
	for _, stream := range f.streams {
		stream.Body.Close()
	}
	f.Wait()
}

// open opens pages of an app and waits until they show it.
func (b *pageBench) open(w *environment, id string, pages int) (*followers, error) {
	f := &followers{}
	var shown sync.WaitGroup
	defer shown.Wait()
	for range pages {
		stream, err := b.request(w, "/api/v1/stream?watch=run:"+id+"&watch=log:"+id)
		if err != nil {
			return f, err
		}
		f.streams = append(f.streams, stream) //nolint:bodyclose // close does
		shown.Add(1)
		f.Go(func() { b.follow(w, stream.Body, id, sync.OnceFunc(shown.Done)) })
	}
	return f, nil
}

// follow asks what a page asks at each event, until the stream is closed. It calls shown after the
// first answer.
func (b *pageBench) follow(w *environment, stream io.Reader, id string, shown func()) {
	defer shown()
	run, line := "/api/v1/runs/"+id, int64(1)
	for s := bufio.NewScanner(stream); s.Scan(); {
		var err error
		switch s.Text() {
		case "event: run", "event: hello":
			err = b.get(w, run+"/status")
			shown()
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
