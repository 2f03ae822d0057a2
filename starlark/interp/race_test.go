//go:build race

package interp

// raceEnabled: the detector multiplies memory, so that a bound on it means nothing.
const raceEnabled = true
