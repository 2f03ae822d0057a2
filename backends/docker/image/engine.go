// Package image prepares images on a Docker Engine: a Puller pulls missing images, a
// Build builds the image of a workspace, Push pushes one to a registry. All report their
// steps to a backend.Progress, named "pull IMAGE", "build workspace HASH" and "push IMAGE".
package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"torchx/runtime/backend"
)

// Engine is the part of github.com/docker/docker/client.Client that this package uses.
type Engine interface {
	DaemonHost() string
	Info(ctx context.Context) (system.Info, error)
	ImageInspect(ctx context.Context, ref string, o ...client.ImageInspectOption) (image.InspectResponse, error)
	ImagePull(ctx context.Context, ref string, o image.PullOptions) (io.ReadCloser, error)
	ImageBuild(ctx context.Context, tar io.Reader, o build.ImageBuildOptions) (build.ImageBuildResponse, error)
	ImageTag(ctx context.Context, source, target string) error
	ImagePush(ctx context.Context, ref string, o image.PushOptions) (io.ReadCloser, error)
	ImageRemove(ctx context.Context, ref string, o image.RemoveOptions) ([]image.DeleteResponse, error)
}

var _ Engine = (*client.Client)(nil)

// Has reports whether the engine has an image, by name or ID.
func Has(ctx context.Context, e Engine, ref string) (bool, error) {
	_, err := e.ImageInspect(ctx, ref)
	if err != nil && !errdefs.IsNotFound(err) {
		return false, fmt.Errorf("inspect image %s: %w", ref, err)
	}
	return err == nil, nil
}

// message is one line of the engine's response to a pull, build or push.
type message struct {
	Stream   string `json:"stream"` // output of a build
	Status   string `json:"status"`
	ID       string `json:"id"` // the layer that Status is about
	Progress struct {
		Current int64 `json:"current"` // bytes
		Total   int64 `json:"total"`   // bytes; 0: not known
	} `json:"progressDetail"`
	Error string `json:"error"`
	Aux   struct {
		ID string `json:"ID"` // of the built image
	} `json:"aux"`
}

// readMessages calls do with each message. The engine sends status 200 before it starts,
// so it reports a failure as a message, which readMessages returns as an error.
func readMessages(body io.Reader, do func(message)) error {
	for d := json.NewDecoder(body); ; {
		var m message
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the engine's response is incomplete: %w", err)
		case m.Error != "":
			return errors.New(m.Error)
		}
		do(m)
	}
}

// layers sums the progress of an image's layers into one step.
type layers struct {
	name     string
	verb     string // the engine's status of a transfer: Downloading, Pushing
	progress backend.Progress
	all      map[string]*layer
}

type layer struct {
	done, total int64 // bytes
	complete    bool
}

func newLayers(name, verb string, progress backend.Progress) *layers {
	return &layers{name, verb, progress, map[string]*layer{}}
}

// add updates the progress from a message. It ignores the progress of extracting, which
// would make the bar run twice.
func (l *layers) add(m message) {
	if m.ID == "" {
		return
	}
	at := l.all[m.ID]
	switch m.Status {
	case "Pulling fs layer", "Waiting", "Preparing", l.verb:
		if at == nil {
			at = &layer{}
			l.all[m.ID] = at
		}
	case "Download complete", "Pull complete", "Pushed":
		if at != nil {
			at.complete = true
		}
	}
	if at != nil && m.Status == l.verb && m.Progress.Total > 0 {
		at.done, at.total = m.Progress.Current, m.Progress.Total
	}
	l.progress.Tell(l.step(m.Status))
}

func (l *layers) step(status string) backend.Step {
	s := backend.Step{Name: l.name}
	complete, known := 0, true
	for _, at := range l.all {
		if at.complete {
			complete++
			at.done = at.total
		} else if at.total == 0 {
			known = false
		}
		s.Done += at.done
		s.Total += at.total
	}
	if !known {
		s.Total = 0 // the total would still grow
	}
	if len(l.all) > 0 {
		s.Text = fmt.Sprintf("%d of %d layers", complete, len(l.all))
	}
	if status == "Extracting" {
		s.Text += ", extracting"
	}
	return s
}
