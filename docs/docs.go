// Package docs holds the documentation, for `torchx help TOPIC` and `torchx docs`.
package docs

import "embed"

// Files holds the pages (Markdown, by folder), the pictures they show and the JSON Schemas.
//
//go:embed *.md *.svg tutorials howto explanation reference components/*.md schema
var Files embed.FS

// Site is all of it as one HTML page that loads nothing; `make site` writes it.
//
//go:embed site.html
var Site string
