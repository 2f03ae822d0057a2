// Package podlog reads the log of one container as a Kubernetes API server sends it: lines
// that begin with a time, and errors of the kubelet among them. Package logcopy copies such
// logs.
package podlog

import (
	"errors"
	"io"
	"time"

	"torchx/backends/logcopy"
)

// GapDeleted is the notice at the end of a log that was cut off by the deletion of its pod.
const GapDeleted = "gap: the pod was deleted before its log was read to the end"

// Mode returns the mode in which logs of pods are copied. Copying fails after a problem has
// lasted for patience; 0: never.
func Mode(follow bool, patience time.Duration) logcopy.Mode {
	return logcopy.Mode{
		Follow: follow, GiveUpAfter: patience, GapGone: GapDeleted, TrustEOF: true,
		Timing: logcopy.Timing{
			Backoff: 50 * time.Millisecond, MaxBackoff: 5 * time.Second, ResetAfter: 10 * time.Second,
			SearchTimeout: time.Second, IdleTimeout: time.Minute, MaxIdleTimeout: 10 * time.Minute, EndTimeout: 10 * time.Second,
		},
	}
}

// LastTime returns the time of the last line of a response, zero if it has no lines.
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
