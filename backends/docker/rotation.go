//go:build unix

package docker

import (
	"bytes"

	"github.com/docker/docker/api/types/versions"
	"github.com/docker/go-units"
)

const (
	// entryFrame is what the engine's json-file driver writes around a line.
	entryFrame = len(`{"log":"","stream":"stdout","time":"2006-01-02T15:04:05.000000000Z"}`) + 1
	// smallLog is a size below which no sensible limit is.
	smallLog = 64 << 10
	// losslessAPI is that of Docker 23, whose followers miss nothing when a log turns over.
	losslessAPI = "1.42"
	// localSize is what the driver "local" gives each file, if nobody says otherwise.
	localSize = 20 << 20
)

// turns tells when the engine may soon begin a new log file. Old engines close the
// file under its followers, who may not have read it to its end, and some lines
// come twice; a log that is read without following is whole as far as it is kept.
type turns struct {
	size  int64 // of the log
	limit int64 // 0: not known yet, < 0: it never turns over, or nothing is lost
}

// pass reports whether the log must not be followed behind this entry.
func (t *turns) pass(data []byte, limit func() int64) bool {
	if t.limit < 0 {
		return false
	}
	t.size += int64(len(data)+entryFrame) + int64(bytes.Count(data, []byte{'"'}))
	if t.limit == 0 && t.size > smallLog/2 {
		t.limit = limit()
	}
	return t.limit > 0 && t.size >= t.limit/2 // half of it: escapes make it larger than it seems
}

// rotation is the size at which the log of a container turns over and may lose
// lines, < 0 if that never happens.
func (l *launcher) rotation(r *run) int64 {
	c, err := l.engine.ContainerInspect(l.ctx, r.id)
	if err != nil || !versions.LessThan(l.engine.ClientVersion(), losslessAPI) {
		return -1
	}
	log := c.HostConfig.LogConfig
	size, err := units.FromHumanSize(log.Config["max-size"])
	switch {
	case err == nil && size > 0:
		return size
	case log.Type == "local":
		return localSize
	}
	return -1
}
