package api

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"torchx/cmd/internal/page/stream"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

const (
	// maxFollowed is how many remote logs of an app are followed: each is a connection.
	maxFollowed = 8
	// remotePause is the time between two events of a remote log, which pages then read again.
	remotePause = 2 * time.Second
	// startPause is the time between two looks at an app that has not started.
	startPause = 5 * time.Second
)

// followed makes a feed follow the logs of an app that runs elsewhere: no file here shows that they
// grow.
func (a *API) followed(f *stream.Feed, ref runner.Ref) {
	files := f.Print
	var grown atomic.Int64
	f.Print = func() string { return files() + fmt.Sprint(" ", grown.Load()) }
	f.Observe = func(ctx context.Context, changed func()) {
		news := make(chan struct{}, 1)
		go a.followLogs(ctx, ref, news)
		for {
			select {
			case <-news:
				grown.Add(1)
				changed()
			case <-ctx.Done():
				return
			}
			pause(ctx, remotePause)
		}
	}
}

// followLogs tells news when logs grow, until the app or ctx ends.
func (a *API) followLogs(ctx context.Context, ref runner.Ref, news chan<- struct{}) {
	for ctx.Err() == nil {
		s, err := a.runner.See(ctx, ref)
		if err == nil && s.State.Started() {
			a.followStarted(ctx, ref, s, news)
		}
		if err == nil && s.IsFinal() {
			return
		}
		pause(ctx, startPause)
	}
}

// followStarted tells news when logs of a started app grow, until all have ended.
func (a *API) followStarted(
	ctx context.Context, ref runner.Ref, s runner.Seen, news chan<- struct{},
) {
	targets, err := a.runner.Replicas(ctx, ref, s.Status, "", nil)
	if err != nil {
		return
	}
	open, err := a.runner.LogsAt(ctx, ref, s, telling(s.Status, targets, maxFollowed), false, func(*spec.Status, spec.Replica) backend.LogOptions {
		return backend.LogOptions{Follow: true, Partial: true, AllAttempts: true, Untimed: true}
	})
	if err != nil {
		return
	}
	defer runner.CloseLogs(open)
	var readers sync.WaitGroup
	for _, in := range open {
		readers.Go(func() {
			for {
				if _, err := in.Reader.Next(ctx); err != nil {
					return
				}
				select {
				case news <- struct{}{}:
				default:
				}
			}
		})
	}
	readers.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
