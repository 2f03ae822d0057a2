package manual

import (
	"context"
	"strings"

	"torchx/runtime/metrics"
)

// metricNames offers the metrics of the first app on the line.
func (c *completer) metricNames(ctx context.Context) {
	db := c.PeekHistory(ctx)
	if db == nil {
		return
	}
	handle, _, isPart := cutHandle(c.line.positionals[0])
	if !isPart {
		handle = c.line.positionals[0]
	}
	row, err := c.rowOf(ctx, db, handle)
	if err != nil {
		return
	}
	reg, err := c.Registry()
	if err != nil {
		return
	}
	can, err := reg.Capabilities(row.Backend)
	if err != nil || can.Folder == nil {
		return
	}
	series, _ := metrics.Summaries(can.Folder.FolderOf(row.ID)) // what precedes damage has names, too
	for i := range series {
		if !strings.ContainsAny(series[i].Name, " \"'") {
			c.add(series[i].Name, "a metric")
		}
	}
}
