//go:build !linux

package agent

import (
	"fmt"
	"os"
)

// shareFolder lets every user write to a folder, as to /tmp: the user of a container may be
// any.
func shareFolder(dir string, _ int) error {
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		return fmt.Errorf("share output folder: %w", err)
	}
	return nil
}
