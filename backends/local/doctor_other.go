//go:build unix && !linux

package local

import "torchx/runtime/backend"

func (b *Backend) systemDiagnostics() []backend.Diagnostic { return nil }
