package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// message is one line of what the engine says while it pulls, builds or pushes.
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
		ID string `json:"ID"` // of the image that was built
	} `json:"aux"`
}

// each reads messages up to the end. The engine answers 200 before the work
// begins, so a failure comes as a message: that is an error here.
func each(body io.Reader, do func(message)) error {
	for d := json.NewDecoder(body); ; {
		var m message
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the engine's answer broke off: %w", err)
		case m.Error != "":
			return errors.New(m.Error)
		}
		do(m)
	}
}
