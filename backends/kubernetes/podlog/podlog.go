// Package podlog reads the log of one container as a Kubernetes API server sends it:
// lines with a time before each, of which some are the kubelet's own errors. Package
// logcopy copies such logs.
package podlog

import (
	"errors"
	"io"
	"time"

	"torchx/backends/logcopy"
)

// GapDeleted is shown where the end of a log was lost with its pod.
const GapDeleted = "gap: the pod was deleted before its log was read to the end"

// Mode returns how logs of pods are copied. patience is how long trouble may last
// before it is an error; 0: for ever.
func Mode(follow bool, patience time.Duration) logcopy.Mode {
	return logcopy.Mode{
		Follow: follow, GiveUpAfter: patience, GapGone: GapDeleted, TrustEOF: true,
		Timing: logcopy.Timing{
			Backoff: 50 * time.Millisecond, MaxBackoff: 5 * time.Second, ResetAfter: 10 * time.Second,
			SearchTimeout: time.Second, IdleTimeout: time.Minute, MaxIdleTimeout: 10 * time.Minute, EndTimeout: 3 * time.Second,
		},
	}
}

// LastTime returns the time of the last line of an answer; zero if it has none.
func LastTime(in logcopy.Stream) (last time.Time, err error) {
	for {
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		if !p.Open {
			last = p.Time
		}
	}
}
