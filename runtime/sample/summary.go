package sample

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
