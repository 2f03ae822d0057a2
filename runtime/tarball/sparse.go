package tarball

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"strings"
)

// maxSparse bounds the size of a sparse file, in bytes: a header of a kilobyte can announce 8 EiB,
// and holes are read at the speed of memory.
const maxSparse = 1 << 40

// isSparse reports whether an entry may have holes.
func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// holes writes a file. It leaves out zeros, so that they take no space on the disk.
type holes struct{ f *os.File }

func (w holes) Write(p []byte) (int, error) {
	if len(bytes.Trim(p, "\x00")) > 0 {
		return w.f.Write(p)
	}
	_, err := w.f.Seek(int64(len(p)), io.SeekCurrent)
	return len(p), err
}
