// Package web holds the files that the browser loads: templates of the first paint, and modules
// and styles that need no build.
package web

import "embed"

// Files has the templates of html/template below templates, and what is served below /static/ in
// css and js.
//
//go:embed templates css js
var Files embed.FS
