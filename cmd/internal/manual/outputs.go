package manual

import (
	"context"
	"errors"
	"path"
	"strings"

	"torchx/runtime/metrics"

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
	row, can := c.capabilities(ctx, handle)
	if row == nil || can.Output == nil || !can.RunsHere {
		return nil
	}
	out, err := can.Output.OutputOf(ctx, row.ID)
	if err != nil {
		return nil
	}
	return out
}

// metricNames offers the metrics of the first app on the line.
func (c *completer) metricNames(ctx context.Context) {
	handle, _, isPart := cutHandle(c.line.positionals[0])
	if !isPart {
		handle = c.line.positionals[0]
	}
	row, can := c.capabilities(ctx, handle)
	if row == nil || can.Folder == nil {
		return
	}
	series, _ := metrics.Summaries(can.Folder.FolderOf(row.ID)) // what precedes damage has names, too
	for i := range series {
		if !strings.ContainsAny(series[i].Name, " \"'") {
			c.add(series[i].Name, "a metric")
		}
	}
}
