package page

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
)

// browse opens a URL with a token in the user's browser.
func browse(ctx context.Context, home, link string) error {
	path, err := writeRedirect(home, link)
	if err != nil {
		return err
	}
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	c := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], path)...)
	c.SysProcAttr = detached()
	if err := c.Start(); err != nil {
		removeRedirect(filepath.Dir(path))
		return err
	}
	go func() { _ = c.Wait() }() // the browser may stay open
	return nil
}
