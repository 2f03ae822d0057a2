//go:build linux && !torture

package torture

// The loads of an ordinary test run; `make torture` has the full ones.
const (
	manyApps     = 50
	manyReplicas = 200
	manyChildren = 1000
)
