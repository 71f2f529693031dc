package blob

import (
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"syscall"

	"github.com/minio/minio-go/v7"
)

// A store that answers these refuses the service, whatever it asks for: its key has ended, its
// clock is wrong, or it asks too often.
var refusesAll = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests}

// refusesAllByCode are such refusals with statuses that others have too. A refused HEAD has no
// code, only its status; what the service asks for is well formed, so its token has ended.
var refusesAllByCode = []string{"ExpiredToken", "InvalidToken", "TokenRefreshRequired", "400 Bad Request", "NoSuchBucket"}

// IsAway reports whether err says that the store cannot be reached, or cannot write now: it
// is stopped, overloaded, read-only or full, or refuses the service's key. The work can be
// repeated once it is back.
func IsAway(err error) bool {
	if errors.Is(err, errAway) {
		return true
	}
	if refused, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return refused.StatusCode >= http.StatusInternalServerError || slices.Contains(refusesAll, refused.StatusCode) || slices.Contains(refusesAllByCode, refused.Code)
	}
	// A request to the service itself fails with other errors than those of files.
	_, file := errors.AsType[*fs.PathError](err)
	return file && (errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, fs.ErrPermission))
}
