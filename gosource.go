// Package svc has the source of the Go SDK, which the service serves to the go command.
//
// It is here because a package embeds only what lies below it. Package sdk makes the module.
package svc

import "embed"

// GoSDK has package client and all that it imports of this module, with go.mod and the
// licence. A test of package sdk compares the folders with the imports.
//
//go:embed go.mod LICENSE client/*.go
//go:embed internal/ground/atomicfile/*.go internal/ground/contract/*.go internal/ground/digest/*.go internal/ground/osfile/*.go
//go:embed internal/ground/plaintext/*.go internal/ground/redact/*.go internal/ground/signingkey/*.go internal/ground/strictjson/*.go
//go:embed internal/render/framelist/*.go internal/render/framename/*.go internal/render/pixels/*.go internal/render/pixels/exr/*.go internal/render/pixels/pngrows/*.go
//go:embed internal/render/settings/*.go internal/work/receipt/*.go
var GoSDK embed.FS
