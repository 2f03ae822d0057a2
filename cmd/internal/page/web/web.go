// Package web holds the files that the browser loads: the frame of all pages, and modules and styles
// that need no build.
package web

import "embed"

// Page is the frame, which has no data: its scripts fetch that.
//
//go:embed page.html
var Page []byte

// Files has what is served below /static/ in css and js.
//
//go:embed css js
var Files embed.FS
