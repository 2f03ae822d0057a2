package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// benches measure the list of a large history, the status of a large run, logs and curves, and what
// open pages cost an app.
func (b *pageBench) benches(
	w *environment, s sizes, old *environment, filled func() error,
) []bench {
	among := func(name, goal, floorName string, floor side, path string) bench {
		return bench{
			name: name, goal: goal, floorName: floorName, runs: s.runs,
			prepare: func() (side, side, error) {
				if err := filled(); err != nil {
					return nil, nil, err
				}
				return b.answer(old, path), floor, b.start(old)
			},
		}
	}
	list, rows := old.torchx("list > /dev/null"), "/api/v1/runs?limit=100&offset="
	return append([]bench{
		among(fmt.Sprintf("ui, a run of %d apps", s.apps), "< 100 ms", "torchx list", list,
			"/api/v1/runs/"+appID(s.apps/2)+"/status"),
		among(fmt.Sprintf("ui, the list of %d apps", s.apps), "< 100 ms",
			"torchx list", list, rows+"0"),
		among("ui, the last rows of the list", "< 500 ms", "the first rows",
			b.answer(old, rows+"0"), rows+strconv.Itoa(s.apps-100)),
		among("ui, a preview of prune", "< 300 ms", "torchx list", list, "/api/v1/prune?keep=10"),
		b.ofRun(w, s, "ui, a run of 1,000 replicas", "< 100 ms", "status HANDLE", "/status", func(at *environment) (string, error) {
			handle, err := at.start("-- true", 1000, "")
			if err != nil {
				return "", err
			}
			return handle, at.sh("exec " + at.bin + " wait " + handle)
		}),
		b.ofRun(w, s, fmt.Sprintf("ui, the end of a log of %d MB", s.log/1e6), "< 1 s", "log HANDLE -n 500", "/log?tail=500", func(*environment) (string, error) {
			handle, _, err := w.makeLog(s.log)
			return handle, err
		}),
		b.ofRun(w, s, "ui, a curve of 1,000,000 points", "< 300 ms", "metrics HANDLE --json --summary", "/curves?name=loss", func(at *environment) (string, error) {
			handle, err := at.run("-- true", "")
			if err != nil {
				return "", err
			}
			return handle, fillMetrics(filepath.Join(at.home, "apps", path.Base(handle)), 1_000_000)
		}),
	}, b.floods(w, s)...)
}

// ofRun measures an answer about an app next to a command.
func (b *pageBench) ofRun(w *environment, s sizes, name, goal, command, part string,
	make func(*environment) (string, error),
) bench {
	return bench{
		name: name, goal: goal, floorName: "torchx " + strings.ReplaceAll(command, " HANDLE", ""), runs: s.runs,
		prepare: func() (side, side, error) {
			handle, err := make(w)
			if err != nil {
				return nil, nil, err
			}
			return b.answer(w, "/api/v1/runs/"+path.Base(handle)+part), w.torchx(strings.ReplaceAll(command, "HANDLE", handle) + " > /dev/null"), b.start(w)
		},
	}
}

// answer measures the time of an answer. A pause before it lets the server forget the last one.
func (b *pageBench) answer(w *environment, path string) side {
	return func() (float64, error) {
		time.Sleep(shareTime)
		return timed(func() error { return b.get(w, path) })()
	}
}

// shareTime is longer than the server uses an answer again.
const shareTime = 300 * time.Millisecond

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
	if b.links[w.home] != nil {
		return nil // it runs already
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

// browsers keep their connections for further requests.
var browsers = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * pages}}

// request returns the answer to a request with the token.
func (b *pageBench) request(w *environment, path string) (*http.Response, error) {
	link := b.links[w.home]
	r, err := http.NewRequestWithContext(w.ctx, http.MethodGet,
		link.Scheme+"://"+link.Host+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+link.Query().Get("token"))
	answer, err := browsers.Do(r)
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
