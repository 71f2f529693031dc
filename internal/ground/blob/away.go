package blob

import (
	"errors"
	"io/fs"
	"net/http"
	"syscall"

	"github.com/minio/minio-go/v7"
)

// IsAway reports whether err says that the store cannot be reached, or cannot write now: it
// is stopped, overloaded, read-only or full. The work can be repeated once it is back.
func IsAway(err error) bool {
	if errors.Is(err, errAway) {
		return true
	}
	if refused, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return refused.StatusCode >= http.StatusInternalServerError || refused.StatusCode == http.StatusForbidden
	}
	// A request to the service itself fails with other errors than those of files.
	_, file := errors.AsType[*fs.PathError](err)
	return file && (errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, fs.ErrPermission))
}
