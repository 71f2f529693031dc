package terminal

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// isJournal reports whether systemd reads what is written to w: JOURNAL_STREAM names the file
// that the journal gave to the process, which may write elsewhere by now.
func isJournal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && os.Getenv("JOURNAL_STREAM") == fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}
