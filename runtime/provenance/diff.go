package provenance

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"torchx/runtime/history"
)

// Bounds of a diff in bytes. Of a larger one only the statistics are kept.
const (
	maxDiff = 1 << 20 // by gzip
	// MaxText is the largest text of a diff.
	MaxText = 64 << 20
	maxStat = 64 << 10
)

// diffArgs select the differences between the commit and the files, which `git apply` reads.
func diffArgs(format ...string) []string {
	args := append([]string{"diff"}, format...)
	return append(args, "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--ignore-submodules=dirty", "HEAD", "--")
}

// readDiff returns the diff by gzip, nil if git fails or it is too large.
func (s *scratch) readDiff(ctx context.Context, c *history.Checkout) []byte {
	packed, sum := &bytes.Buffer{}, sha256.New()
	zip := gzip.NewWriter(packed)
	size := int64(0)
	read := func(r io.Reader) error {
		block := make([]byte, 64<<10)
		for {
			n, err := r.Read(block)
			sum.Write(block[:n])        // cannot fail
			_, _ = zip.Write(block[:n]) // nor can a buffer
			if size += int64(n); packed.Len() > maxDiff || size > MaxText {
				return errTooLarge
			}
			if err != nil {
				return eof(err)
			}
		}
	}
	err := s.stream(ctx, read, diffArgs("--binary", "--full-index", "--src-prefix=a/", "--dst-prefix=b/")...)
	if err == nil {
		err = zip.Close()
	}
	switch {
	case err == errTooLarge || err == nil && packed.Len() > maxDiff: //nolint:errorlint // it is not wrapped
		if stat, err := s.output(ctx, diffArgs("--stat=80", "--stat-count=100")...); err == nil {
			c.DiffStat = string(bytes.ToValidUTF8(stat[:min(len(stat), maxStat)], []byte("\uFFFD")))
		}
		return nil
	case err != nil || size == 0:
		return nil
	}
	c.DiffSum, c.DiffBytes = hex.EncodeToString(sum.Sum(nil)), size
	return packed.Bytes()
}

// eof returns nil at the end of a stream.
func eof(err error) error {
	if err == io.EOF { //nolint:errorlint // Read returns it unwrapped
		return nil
	}
	return err
}
