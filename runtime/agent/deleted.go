package agent

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// deletedInterval is how often an agent looks whether its bundle is still there.
// The system could tell at once, but it has only some 128 watches for all programs
// of a user; a command that finds the folder missing tells the agent as well.
const deletedInterval = 5 * time.Second

// deleted reports whether somebody deleted the bundle or moved it away.
func (b Bundle) deleted() bool {
	_, err := os.Lstat(b.path(manifestFile))
	return errors.Is(err, fs.ErrNotExist)
}
