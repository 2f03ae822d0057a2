//go:build unix && !linux

package torture

const noMappings = "no-mappings"

// runWithoutMappings does nothing: this system has no seccomp filters.
func runWithoutMappings([]string) {}
