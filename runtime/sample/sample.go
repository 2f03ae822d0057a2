// Package sample records the resource usage of replicas over time, in an app's folder.
//
//	Reading  what a replica uses at one moment: counters since its start, and current amounts
//	Track    turns the readings of one attempt into samples, and keeps its peak
//	Sample   what an attempt used during an interval
//	File     appends the samples of one replica: usage/<role>-<n>.jsonl
//	Read     reads the samples of an app by attempt (Series)
//
// Intervals grow with the age of an attempt, so that a file of a run of any length is small.
package sample

import (
	"time"

	"torchx/runtime/procs"
)

// Sources of an amount of memory.
const (
	PSS     = "pss"            // sum over the tree of processes, shared pages counted once
	RSS     = "rss"            // sum over the tree, shared pages counted for each process
	Cgroup  = "cgroup"         // the control group without inactive file pages; its peak is the kernel's
	Engine  = "engine"         // the statistics of a container engine
	Metrics = "metrics.k8s.io" // the metrics API of a cluster
	Tree    = "tree"           // of a peak: the largest PSS that was sampled
	Process = "process"        // of a peak: the kernel's, of the largest process
)

// Reading is what a replica uses at one moment. Unknown values are nil.
type Reading struct {
	CPU           *time.Duration // user and system time since the start
	Rate          *float64       // instead of CPU: its present use, percent of one processor
	Memory        *int64         // bytes
	Source        string         // of Memory
	Peak          *int64         // of the memory since the start, in bytes, if the kernel knows it
	Read, Written *int64         // bytes since the start
	Threads       *int
	GPU           *float64 // percent of one device
	GPUMemory     *int64   // bytes
	PIDs          []int    // processes, if known
	// Err is why nothing is known. It may change from one reading to the next.
	Err error
}

// Sample is what an attempt used during an interval. Unknown values are nil.
type Sample struct {
	Time       time.Time // end of the interval
	Attempt    int
	Seconds    float64  // length of the interval
	CPUSeconds *float64 // during the interval
	CPUPeak    *float64 // percent of one processor, between two readings
	Memory     *int64   // mean, in bytes
	MemoryPeak *int64   // largest reading, in bytes
	Read       *int64   // bytes since the start of the attempt
	Written    *int64
	Threads    *int     // most
	GPU        *float64 // mean, percent of one device
	GPUPeak    *float64
	GPUMemory  *int64 // most, in bytes
	Source     string // of the memory
}

// CPUPercent returns the mean CPU use, in percent of one processor.
func (s *Sample) CPUPercent() *float64 {
	if s.CPUSeconds == nil || s.Seconds <= 0 {
		return nil
	}
	p := 100 * *s.CPUSeconds / s.Seconds
	return &p
}

const (
	second = time.Second
	// dense is how long samples are a second apart; after it, the interval is a fixed part of the
	// age.
	dense = time.Minute
	// measurePart and recordPart are the parts: a run of a year has some 1,600 samples.
	measurePart = 60
	recordPart  = 120
	// maxMeasure bounds the time between two readings, so that peaks of long runs are seen.
	maxMeasure = 10 * second
)

// early are the ages of the readings within the first second: many attempts end before it is over.
var early = []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, second}

// MeasureEvery returns the time until the next reading of an attempt of an age.
func MeasureEvery(age time.Duration) time.Duration {
	for _, at := range early {
		if age < at {
			return at - age
		}
	}
	if age < dense {
		return second
	}
	return min(max(second, age/measurePart), maxMeasure)
}

// recordEvery returns the length of the next sample of an attempt, whose replica has already
// written a number of bytes.
func recordEvery(age time.Duration, written int64) time.Duration {
	every := second
	if age >= dense {
		every = max(every, age/recordPart)
	}
	return every << min(written/thinAfter, 16)
}

// OfTree returns the reading of a tree of processes.
func OfTree(tree *procs.Tree) Reading {
	r := Reading{CPU: &tree.CPU, Memory: &tree.Memory, Source: RSS, Threads: &tree.Threads, PIDs: tree.PIDs}
	if tree.Once {
		r.Source = PSS
	}
	if tree.IO != nil {
		r.Read, r.Written = &tree.IO.Read, &tree.IO.Written
	}
	return r
}

// Summary is what an attempt used, from its samples. Unknown values are nil.
type Summary struct {
	Seconds                float64 // that the samples cover
	CPUMean, CPUPeak       *float64
	MemoryMean, MemoryPeak *int64
	Read, Written          *int64
	ThreadsPeak            *int
	GPUMean, GPUPeak       *float64
	GPUMemoryPeak          *int64
	Source                 string // of the memory: that of the last sample
}

// Summarize returns the peaks of samples, and their means by time.
func Summarize(all []Sample) Summary {
	var sum Summary
	var cpu, memory, gpu mean
	for i := range all {
		s := &all[i]
		sum.Seconds += s.Seconds
		if p := s.CPUPercent(); p != nil {
			cpu.add(*p, s.Seconds)
		}
		if s.Memory != nil {
			memory.add(float64(*s.Memory), s.Seconds)
			sum.Source = s.Source
		}
		if s.GPU != nil {
			gpu.add(*s.GPU, s.Seconds)
		}
		sum.CPUPeak, sum.MemoryPeak = larger(sum.CPUPeak, s.CPUPeak), larger(sum.MemoryPeak, s.MemoryPeak)
		sum.Read, sum.Written = larger(sum.Read, s.Read), larger(sum.Written, s.Written)
		sum.ThreadsPeak = larger(sum.ThreadsPeak, s.Threads)
		sum.GPUPeak, sum.GPUMemoryPeak = larger(sum.GPUPeak, s.GPUPeak), larger(sum.GPUMemoryPeak, s.GPUMemory)
	}
	sum.CPUMean, sum.GPUMean = cpu.value(), gpu.value()
	if m := memory.value(); m != nil {
		n := int64(*m)
		sum.MemoryMean = &n
	}
	return sum
}
