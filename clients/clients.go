// Package clients holds what programs in other languages use to drive torchx.
package clients

import _ "embed"

// Python is the client for Python, one module.
//
//go:embed python/torchx_client.py
var Python string
