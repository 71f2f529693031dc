package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// leastFile is what a file counts at least, so that many empty ones are bounded too.
const leastFile = 16 << 10

// Written returns the bytes in folders that the program writes to, those of files included
// that it has removed and still holds open. It is an estimate while the program runs.
func (p *Process) Written(folders ...string) (bytes int64) {
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // it was removed meanwhile
			}
			bytes += leastFile
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
			return nil
		})
	}
	p.pausing.Lock()
	defer p.pausing.Unlock()
	if p.over {
		return bytes
	}
	first := p.cmd.Process.Pid
	if p.init != nil {
		first = p.init.pid
	}
	for _, pid := range family(first, []int{first}) {
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is well-formed
		for _, path := range open {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink == 0 {
				bytes += info.Size()
			}
		}
	}
	return bytes
}
