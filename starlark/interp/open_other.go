//go:build !unix

package interp

// openNonblock is 0 where no file in a folder can block an open.
const openNonblock = 0
