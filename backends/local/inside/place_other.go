//go:build unix && !linux

package inside

import "errors"

// PlaceOf returns an error: this system does not tell the environment of a process.
func PlaceOf(int) (Place, error) { return Place{}, errors.ErrUnsupported }
