package blob

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/minio/minio-go/v7"
)

// TestAStoreThatRefusesTheServiceIsAway: what S3 answers when the service's key, its bucket or its
// clock is wrong will pass once an operator has corrected it. What it answers about one object
// will not.
func TestAStoreThatRefusesTheServiceIsAway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		want   bool
	}{
		{http.StatusForbidden, "AccessDenied", true},
		{http.StatusForbidden, "InvalidAccessKeyId", true},
		{http.StatusForbidden, "SignatureDoesNotMatch", true},
		{http.StatusForbidden, "RequestTimeTooSkewed", true},
		{http.StatusUnauthorized, "Unauthorized", true},
		{http.StatusBadRequest, "ExpiredToken", true},
		{http.StatusBadRequest, "InvalidToken", true},
		{http.StatusBadRequest, "TokenRefreshRequired", true},
		{http.StatusBadRequest, "400 Bad Request", true}, // to HEAD
		{http.StatusTooManyRequests, "TooManyRequests", true},
		{http.StatusNotFound, "NoSuchBucket", true},
		{http.StatusServiceUnavailable, "SlowDown", true},
		{http.StatusBadRequest, "BadDigest", false},
		{http.StatusBadRequest, "EntityTooLarge", false},
		{http.StatusNotFound, "NoSuchKey", false},
		{http.StatusPreconditionFailed, "PreconditionFailed", false},
	} {
		err := fmt.Errorf("write: %w", minio.ErrorResponse{StatusCode: c.status, Code: c.code})
		if IsAway(err) != c.want {
			t.Errorf("%d %s: %t, want %t", c.status, c.code, !c.want, c.want)
		}
	}
	if IsAway(errors.New("bug")) {
		t.Error("any error counts")
	}
}
