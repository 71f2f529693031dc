//go:build unix

package operator

import "golang.org/x/sys/unix"

// diskOf is the space of the disk of a folder: what this user may still use, and all of it.
func diskOf(folder string) (free, size int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}
