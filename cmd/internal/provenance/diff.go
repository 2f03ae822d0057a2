package provenance

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"torchx/runtime/history"
	"torchx/runtime/provenance"
	"torchx/runtime/runner"
)

// Diff returns the stored diff of an app's checkout, byte by byte as git printed it; it is
// empty if no file had changed.
func Diff(ctx context.Context, r *runner.Runner, record *history.App) ([]byte, error) {
	c, handle := record.Checkout, record.Handle()
	switch {
	case c == nil:
		return nil, fmt.Errorf("the git checkout of %s is not known: it was submitted outside of one, without git, or with [torchx] provenance = %s", handle, provenanceOff)
	case c.Dirty == nil:
		return nil, fmt.Errorf("the changes of %s are not known: git could not compare the files, or took over %s", handle, collectLimit)
	case c.Changed == 0:
		return nil, nil
	case c.DiffStat != "":
		return nil, fmt.Errorf("the diff of %s was too large to keep: `torchx describe --json %s` has its statistics", handle, handle)
	case c.DiffSum == "":
		return nil, fmt.Errorf("the diff of %s was not stored: [torchx] provenance = %s, or git could not compare the files", handle, provenanceCommit)
	}
	packed, err := r.History.Diff(ctx, record.Backend, record.ID)
	if err != nil {
		return nil, err
	}
	diff, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("read the diff of %s: %w", handle, err)
	}
	return diff, nil
}

func unpack(packed []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	diff, err := io.ReadAll(io.LimitReader(zip, provenance.MaxText+1))
	if err == nil && len(diff) > provenance.MaxText {
		err = errors.New("it is too large")
	}
	return diff, err
}
