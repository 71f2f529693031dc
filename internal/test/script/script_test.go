package script_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"svc.example/internal/test/script"
)

// TestProgramRunsWhileOthersStart writes and runs programs at the same time: with a plain
// os.WriteFile one in a few dozen is refused, "text file busy".
func TestProgramRunsWhileOthersStart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var all sync.WaitGroup
	for writer := range 8 {
		all.Go(func() {
			for n := range 50 {
				program := script.Write(t, filepath.Join(folder, fmt.Sprintf("%d-%d", writer, n)), "echo $(( 40 + 2 ))\n")
				if out, err := exec.CommandContext(t.Context(), program).CombinedOutput(); err != nil || string(out) != "42\n" {
					t.Errorf("%q, %v", out, err)
				}
			}
		})
	}
	all.Wait()
}
