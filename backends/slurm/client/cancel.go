package client

import (
	"context"
	"errors"
	"strconv"

	"torchx/runtime/backend"
)

// Cancel runs scancel for a job. A job that has ended is not an error.
func (c *Client) Cancel(ctx context.Context, job int64, options ...string) error {
	args := append(options, strconv.FormatInt(job, 10))
	_, err := c.Run(ctx, nil, "scancel", args...)
	var e *Error
	if errors.As(err, &e) && e.Slurm == noReason {
		// It does so when the job changes meanwhile: again, and it says why if that fails.
		_, err = c.Run(ctx, nil, "scancel", append([]string{"--verbose"}, args...)...)
	}
	if errors.Is(err, ErrEnded) || errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}
