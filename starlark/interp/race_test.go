//go:build race

package interp

// raceEnabled is set with the race detector, which multiplies memory use, so that bounds on it do not hold.
const raceEnabled = true
