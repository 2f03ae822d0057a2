//go:build linux && torture

package torture

// The full loads.
const (
	manyApps     = 200
	manyReplicas = 1000
	manyChildren = 10000
)
