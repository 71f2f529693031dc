package operator

import "golang.org/x/sys/windows"

// diskOf is the space of the disk of a folder: what this user may still use, and all of it.
func diskOf(folder string) (free, size int64, err error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, 0, err
	}
	var available, total uint64
	err = windows.GetDiskFreeSpaceEx(path, &available, &total, nil)
	return int64(available), int64(total), err
}
