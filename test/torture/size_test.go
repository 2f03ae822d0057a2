//go:build linux && !torture

package torture

// Loads of an ordinary test run. `make torture` uses larger ones.
const (
	manyApps     = 50
	manyReplicas = 200
	manyChildren = 1000
)
