package alone_test

import (
	"os"
	"testing"

	"svc.example/internal/test/alone"
)

func TestATestRunsInAProcessOfItsOwn(t *testing.T) {
	for _, name := range []string{"one", "another (of two)"} {
		t.Run(name, func(t *testing.T) {
			alone.Run(t, func(t *testing.T) {
				if parent := os.Getenv("SVC_TEST_PARENT"); parent != "" {
					t.Errorf("it has the environment of %s", parent)
				}
			})
		})
	}
}
