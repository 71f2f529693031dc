package benchmark_test

import (
	"os"
	"testing"

	"svc.example/internal/work/benchmark"
)

func TestPrintedNamesAreTheTables(t *testing.T) {
	t.Parallel()
	printed, err := os.ReadFile("../../../docs/internal/gpu-names.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(printed) != benchmark.NamesMarkdown() {
		t.Error("docs/internal/gpu-names.md is not what the tables say; run make generate")
	}
}
