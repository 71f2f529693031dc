package intake_test

import (
	"io"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAFileThatIsTooLargeIsRefusedForThat(t *testing.T) {
	t.Parallel()
	h, _ := bounded(t, dbtest.URL(t, "sqlite"), 10)
	for _, c := range []struct {
		name string
		size int64
		want fault.Code
	}{
		{"junk.blend", contract.MaxUploadBytes, fault.UnsupportedFile},
		{"junk.blend", contract.MaxUploadBytes + 1, fault.UploadTooLarge},
		{"junk.txt", contract.MaxUploadBytes + 1, fault.UploadTooLarge},
		{"junk.txt", 1, fault.UnsupportedFile},
	} {
		_, err := h.receiveAs(intake.File{Name: c.name, Body: io.LimitReader(zeros{}, c.size)}, nil)
		if got := fault.Of(err); got != c.want {
			t.Errorf("%s of %d bytes: %s, want %s", c.name, c.size, got, c.want)
		}
	}
	if left := h.blobs(); len(left) != 0 {
		t.Errorf("of what was refused there is left %v", left)
	}
}
