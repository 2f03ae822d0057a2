package client

import (
	"context"
	"os/exec"
)

// Command returns a command that the caller runs. It ends with ctx. Errors: ErrUnavailable.
func (c *Client) Command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, environ, err := c.find(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environ
	return cmd, nil
}
