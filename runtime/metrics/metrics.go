// Package metrics stores the metrics of an app: series of numbers that its replicas report.
//
//	Lines, Scanner  two sources: lines of JSON, and patterns over the log
//	Sink            what sources write to: a Store, or a Memory for one command
//	Store           the writer of an app's folder; only one process has it open
//	Summaries, Curve, Points, Issues  read an app's Folder, also while it is written
//
// The store is the folder "metrics" in the app's folder:
//
//	points.dat  header, then frames; appended to, never changed
//	index.dat   everything but the points up to some frame; replaced as a whole
//	lock        held by the writer
//
// A frame is what one Flush adds, and counts as a whole or not at all: its length and CRC-32C
// (4 bytes each, little-endian), then new series, points by series, issues, and the positions
// of the sources after them. So a collector that is killed continues where the last whole
// frame ends, and neither loses nor repeats a point. The index has the state after a frame.
// Readers load it and apply the frames that follow.
package metrics

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Key identifies a series of an app.
type Key struct {
	Role    string
	Replica int
	Name    string
}

// Point is one value of a series.
type Point struct {
	Time    time.Time
	Step    int64
	HasStep bool
	Value   float64 // may be NaN or infinite
	// Segment counts from 0 and grows when steps start again, the clock goes back or another
	// attempt begins. For a Sink it is the number of the attempt; the sink numbers segments.
	Segment int
}

// Summary describes a series. Min and Max are of its finite values, NaN if it has none.
type Summary struct {
	Key
	Count, NonFinite      int64
	Broken                int64 // lines of the series' source and replica that could not be read
	Segments              int
	First, Last, Min, Max float64
	LastStep              int64
	HasStep               bool // the last point has a step
	FirstTime, LastTime   time.Time
	Source                string
}

// Sources of metrics, by precedence. If several sources of a replica report the same name, the
// first keeps it; the name of another gets "@" and the source, or the folder of the TensorBoard
// files, appended.
const (
	SourceFile        = "file"        // lines of JSON in $TORCHX_METRICS
	SourceTensorBoard = "tensorboard" // event files below $TORCHX_OUTPUT
	SourceLog         = "log"         // patterns over the log
)

// OfFolder returns the source of TensorBoard files in a Folder, relative to the folder of
// outputs: two folders are two runs, whose tags may be the same.
func OfFolder(dir string) string { return SourceTensorBoard + ":" + dir }

// split returns the source without a Folder, and what is appended to a name that it does not
// keep.
func split(source string) (kind, suffix string) {
	kind, suffix, _ = strings.Cut(source, ":")
	if suffix == "" || suffix == "." {
		suffix = kind
	}
	return kind, suffix
}

func precedence(source string) int {
	kind, _ := split(source)
	return slices.Index([]string{SourceFile, SourceTensorBoard, SourceLog}, kind)
}

// Sink takes points in the order of their arrival.
type Sink interface {
	Add(k Key, p Point, source string)
}

// Reporter is a Sink that also counts what a source could not read.
type Reporter interface {
	Sink
	// Broken counts broken lines of a replica; reason describes the last of them.
	Broken(role string, replica int, source string, n int64, reason string)
}

// Issue is what a source of a replica could not keep.
type Issue struct {
	Role    string
	Replica int
	Source  string
	Broken  int64  // lines or records that could not be read
	Dropped int64  // points of names above the limit
	Reason  string // of the last broken one
}

// Limits that keep memory, disk and screens bounded.
const (
	MaxNames    = 1000  // of a replica and source
	MaxSeries   = 10000 // of an app
	maxBuckets  = 512   // of a series
	bucketSpace = 256 << 10
	maxStored   = 1 << 30 // bytes of points.dat; later points count in summaries only
)

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
