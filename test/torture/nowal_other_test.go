//go:build unix && !linux

package torture

const noMappings = "no-mappings"

// runWithoutMappings needs seccomp filters.
func runWithoutMappings([]string) {}
