//go:build linux && torture

package torture

// Loads of `make torture`.
const (
	manyApps     = 200
	manyReplicas = 1000
	manyChildren = 10000
)
