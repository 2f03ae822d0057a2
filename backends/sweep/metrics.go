package sweep

import (
	"log"

	"torchx/runtime/backend"
	"torchx/runtime/sweep"
)

// newWatcher returns what follows the metrics of trials, nil if the rules of the sweep need none.
func newWatcher(*sweep.Definition, *log.Logger) (sweep.Watcher, error) {
	return nil, nil //nolint:nilnil // none is needed
}

// begin starts to follow the metrics of a trial that has an app.
func (c *controller) begin(n int) {
	if finder, ok := c.target.(backend.FolderFinder); ok && c.watcher != nil {
		c.watcher.Begin(n, finder.FolderOf(c.ref(n).ID))
	}
}

// value returns the last value of the sweep's metric of a trial that has ended; nil: unknown.
func (c *controller) value(n int) *sweep.Value {
	if c.watcher == nil {
		return nil
	}
	return c.watcher.End(n)
}
