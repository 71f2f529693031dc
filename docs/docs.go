// Package docs holds the documents of this folder, for the pages of the guide.
//
// What always holds: a document is Markdown, and its first line is its title. It
// leaves to others how they are shown. Start reading at README.md.
package docs

import "embed"

// Files are the documents, without the decisions.
//
//go:embed *.md
var Files embed.FS
