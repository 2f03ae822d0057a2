package podarchive

const (
	// usualFiles is the usual limit of open files.
	usualFiles = 1024
	// filesOfLog is the number of files that are open while a replica's log is copied and read:
	// its lock, and two streams and their index for writing, one and the index for reading.
	filesOfLog = 6
)

// followLimit returns how many replicas are followed at the same time. A fifth of the files is
// left to the rest of the program.
func followLimit() int { return max(1, openFiles()/5*4/filesOfLog) }

// FilesFor returns how many files a process needs to open to follow n replicas.
func FilesFor(n int) int { return n*filesOfLog*5/4 + 1 }
