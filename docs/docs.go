// Package docs holds the documentation, for `torchx help TOPIC` and `torchx docs`.
package docs

import "embed"

// Files holds the pages: Markdown by folder, and the pictures they show.
//
//go:embed *.md *.svg tutorials howto explanation reference components/*.md
var Files embed.FS

// Site is all of it as one HTML page that loads nothing; `make site` writes it.
//
//go:embed site.html
var Site string
