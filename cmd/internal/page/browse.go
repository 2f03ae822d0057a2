package page

import (
	"context"
	"os/exec"
	"runtime"
)

// browse opens a URL in the user's browser.
func browse(ctx context.Context, link string) error {
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	c := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], link)...)
	c.SysProcAttr = detached()
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // the browser may stay open
	return nil
}
