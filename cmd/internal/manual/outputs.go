package manual

import (
	"context"
	"errors"
	"path"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/outputs"
)

// maxOutputs bounds how many files are offered.
const maxOutputs = 1000

// outputFiles offers the files of one folder that an app wrote, as a shell does.
func (c *completer) outputFiles(ctx context.Context, handle string) {
	out := c.outputOf(ctx, handle)
	if out == nil || !out.Here {
		return
	}
	dir, _ := path.Split(c.current)
	if dir == "" && c.current == "" {
		c.add(".", "all files")
	}
	errEnough := errors.New("enough")
	left := maxOutputs
	_ = outputs.List(out.Place, dir, func(e outputs.Entry) error {
		if !strings.HasPrefix(dir+e.Name, c.current) {
			return nil
		}
		switch {
		case e.Mode.IsDir():
			c.add(dir+e.Name+"/", "")
		case e.Mode.IsRegular():
			c.add(dir+e.Name, ui.BytesText(e.Size))
		default:
			c.add(dir+e.Name, "")
		}
		if left--; left == 0 {
			return errEnough
		}
		return nil
	})
}

// outputOf returns where the outputs are of an app that ran on this machine, else nil.
func (c *completer) outputOf(ctx context.Context, handle string) *backend.Output {
	db := c.PeekHistory(ctx)
	if db == nil {
		return nil
	}
	row, err := c.rowOf(ctx, db, handle)
	if err != nil {
		return nil
	}
	reg, err := c.Registry()
	if err != nil {
		return nil
	}
	can, err := reg.Capabilities(row.Backend)
	if err != nil || can.Output == nil || !can.RunsHere {
		return nil
	}
	out, err := can.Output.OutputOf(ctx, row.ID)
	if err != nil {
		return nil
	}
	return out
}
