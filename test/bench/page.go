package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// pages is the number of browsers that follow an app.
const pages = 50

// benches measure the first paint, in a large history, and what open pages cost an app.
func (b *pageBench) benches(w *environment, s sizes, old *environment, filled func() error) []bench {
	flooded := w.in("paged")
	program := fmt.Sprintf("seq -f %%.0f%s %d", strings.Repeat("x", 90), s.log/100)
	return []bench{
		{
			name: fmt.Sprintf("ui, a run of %d apps", s.apps), goal: "< 100 ms", floorName: "torchx list", runs: s.runs,
			prepare: func() (side, side, error) {
				if err := filled(); err != nil {
					return nil, nil, err
				}
				return timed(func() error { return b.get(old, "/runs/"+appID(s.apps/2)) }), old.torchx("list > /dev/null"), b.start(old)
			},
		},
		{
			name: fmt.Sprintf("ui, the list of %d apps", s.apps), goal: "< 100 ms", floorName: "torchx list", runs: s.runs,
			prepare: func() (side, side, error) {
				if err := filled(); err != nil {
					return nil, nil, err
				}
				return timed(func() error { return b.get(old, "/") }), old.torchx("list > /dev/null"), b.start(old)
			},
		},
		{
			name: "ui, the last rows of the list", goal: "< 500 ms", floorName: "the first rows", runs: s.runs,
			prepare: func() (side, side, error) {
				if err := filled(); err != nil {
					return nil, nil, err
				}
				rows := func(offset int) side {
					return timed(func() error { return b.get(old, fmt.Sprintf("/api/v1/runs?limit=100&offset=%d", offset)) })
				}
				return rows(s.apps - 100), rows(0), b.start(old)
			},
		},
		{
			name: fmt.Sprintf("flood with %d pages open", pages), goal: "< 1.03x", floorName: "the same without pages", runs: min(s.runs, 5),
			prepare: func() (side, side, error) {
				return flooded.watchedFlood(b, program), flooded.floodTorchx(program), b.start(flooded)
			},
		},
	}
}

// pageBench benchmarks the server of `torchx ui`. It has the servers that were started.
type pageBench struct {
	servers []*environment
	links   map[string]*url.URL // by home
}

// start serves the page of a home in the background.
func (b *pageBench) start(w *environment) error {
	text, err := w.output("exec " + w.bin + " ui -d")
	if err != nil {
		return err
	}
	link, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	if b.links == nil {
		b.links = map[string]*url.URL{}
	}
	b.servers, b.links[w.home] = append(b.servers, w), link
	return nil
}

func (b *pageBench) stop() (err error) {
	for _, w := range b.servers {
		err = errors.Join(err, w.sh("exec "+w.bin+" ui --stop"))
	}
	return err
}

// request returns the answer to a request with the token.
func (b *pageBench) request(w *environment, path string) (*http.Response, error) {
	link := b.links[w.home]
	r, err := http.NewRequestWithContext(w.ctx, http.MethodGet, link.Scheme+"://"+link.Host+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+link.Query().Get("token"))
	answer, err := http.DefaultClient.Do(r)
	if err == nil && answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		err = fmt.Errorf("%s: %s", path, answer.Status)
	}
	return answer, err
}

func (b *pageBench) get(w *environment, path string) error {
	answer, err := b.request(w, path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// watchedFlood measures the time of an app that pages follow.
func (w *environment) watchedFlood(b *pageBench, program string) side {
	return func() (float64, error) {
		var followers sync.WaitGroup
		took, err := timed(func() error {
			handle, err := w.start("-c '"+program+"'", 1, "")
			if err != nil {
				return err
			}
			id := handle[strings.LastIndexByte(handle, '/')+1:]
			var streams []*http.Response
			for range pages {
				stream, err := b.request(w, "/api/v1/stream?watch=run:"+id+"&watch=log:"+id)
				if err != nil {
					return err
				}
				streams = append(streams, stream) //nolint:bodyclose // closed below
				followers.Go(func() { b.follow(w, stream.Body, id) })
			}
			err = w.sh("exec " + w.bin + " wait " + handle)
			for _, stream := range streams {
				stream.Body.Close()
			}
			return errors.Join(err, w.sh("exec "+w.bin+" delete -f "+handle))
		})()
		followers.Wait()
		return took, err
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
