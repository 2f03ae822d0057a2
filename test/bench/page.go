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

// watchedFlood measures the time of an app that pages follow: each reads the end of the log
// whenever it grew.
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
				stream, err := b.request(w, "/api/v1/stream?watch=log:"+id)
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

// follow reads the log at each event until the stream is closed.
func (b *pageBench) follow(w *environment, stream io.Reader, id string) {
	for s := bufio.NewScanner(stream); s.Scan(); {
		if s.Text() == "event: log" && b.get(w, "/api/v1/runs/"+id+"/log?tail=200") != nil {
			return // the app was deleted
		}
	}
}
