package specmodule_test

import (
	"slices"
	"testing"

	"torchx/starlark/specmodule"
)

func TestNames(t *testing.T) {
	t.Parallel()
	if got := specmodule.Predeclared(specmodule.Options{}).Keys(); !slices.Equal(got, specmodule.Names()) {
		t.Errorf("%q, want %q", specmodule.Names(), got)
	}
}
