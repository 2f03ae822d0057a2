//go:build !linux

package slurm

import "torchx/runtime/backend"

// checkFolder trusts that compute nodes have the folder: clusters run Linux.
func checkFolder(dir string) backend.Check {
	return backend.PassedCheck(folderCheck, "%s, which all nodes must have", dir)
}
