package image

import (
	"fmt"

	"torchx/runtime/backend"
)

// layers adds the progress of an image's layers up to one step.
type layers struct {
	name string
	verb string // what the engine calls the transfer: Downloading, Pushing
	all  map[string]*layer
	tell backend.Progress
}

type layer struct {
	done, total int64
	over        bool
}

func newLayers(name, verb string, tell backend.Progress) *layers {
	return &layers{name, verb, map[string]*layer{}, tell}
}

// see takes a message in. Extracting has a count of its own, which would make a
// bar run twice.
func (l *layers) see(m message) {
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
			at.over = true
		}
	}
	if at != nil && m.Status == l.verb && m.Progress.Total > 0 {
		at.done, at.total = m.Progress.Current, m.Progress.Total
	}
	l.tell.Tell(l.step(m.Status))
}

func (l *layers) step(status string) backend.Step {
	s := backend.Step{Name: l.name}
	over, known := 0, true
	for _, at := range l.all {
		if at.over {
			over++
			at.done = at.total
		} else if at.total == 0 {
			known = false
		}
		s.Done += at.done
		s.Total += at.total
	}
	if !known {
		s.Total = 0 // it would grow under the bar
	}
	if len(l.all) > 0 {
		s.Text = fmt.Sprintf("%d of %d layers", over, len(l.all))
	}
	if status == "Extracting" {
		s.Text += ", extracting"
	}
	return s
}
