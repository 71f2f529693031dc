package sandbox

import (
	"runtime"
	"time"
)

// Limits bound one program together with all it starts. A zero field takes the
// value of DefaultLimits.
type Limits struct {
	Memory    int64         // bytes; of main memory, not of a GPU's
	Tasks     int           // processes and threads at once
	FileSize  int64         // bytes of any one file it writes
	OpenFiles int           // at once
	Disk      int64         // bytes of all files it writes; its caller watches them by Process.Written
	CPU       time.Duration // of all its threads together
}

// Limits that no honest frame meets.
const (
	// defaultTasks lets the largest machines have their threads several times.
	defaultTasks = 4096
	// defaultFileSize lets Cycles keep the tiles of a very large picture on disk.
	defaultFileSize = 16 << 30
	// defaultDisk lets one file be as large as it may.
	defaultDisk = 20 << 30
	// defaultOpenFiles is for scenes with thousands of textures.
	defaultOpenFiles = 8192
	// defaultWall is how long all processors may be busy for one program.
	defaultWall = 7 * 24 * time.Hour
)

// DefaultLimits returns this machine's: seven eighths of its memory, or of the
// control group that we are in, so that the worker itself survives; and a week of
// all its processors.
func DefaultLimits() Limits {
	return Limits{
		Memory: memory() / 8 * 7, Tasks: defaultTasks, FileSize: defaultFileSize, OpenFiles: defaultOpenFiles, Disk: defaultDisk,
		CPU: defaultWall * time.Duration(runtime.NumCPU()),
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	fill(&l.Memory, d.Memory)
	fill(&l.Tasks, d.Tasks)
	fill(&l.FileSize, d.FileSize)
	fill(&l.OpenFiles, d.OpenFiles)
	fill(&l.Disk, d.Disk)
	fill(&l.CPU, d.CPU)
	return l
}

// fill sets a limit that was left out.
func fill[T comparable](limit *T, standard T) {
	var zero T
	if *limit == zero {
		*limit = standard
	}
}
