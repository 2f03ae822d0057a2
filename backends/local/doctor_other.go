//go:build unix && !linux

package local

import "torchx/runtime/backend"

func (b *Backend) systemExams() []backend.Diagnostic { return nil }
