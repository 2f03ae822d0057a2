package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Absolute makes the path of a project absolute, from the folder cwd; ~ is the home
// of the user and file:// TorchX's way to write one. It must be there.
func Absolute(dir, cwd string) (string, error) {
	dir = strings.TrimPrefix(dir, "file://")
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = home + rest
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("there is no folder or file %s", dir)
	}
	return filepath.Clean(dir), nil
}
