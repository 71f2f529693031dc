package corpus_test

import (
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/corpus"
)

func TestMain(m *testing.M) {
	if code, worker := corpus.BeWorker(); worker {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// Three of the scenes that make corpus compares: a simulation with steps, a circle, and File
// Output nodes with paths of every kind.
func TestFramesOfTheServiceAreThoseOfBlender(t *testing.T) {
	t.Parallel()
	program, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("there is no Blender: run scripts/with-blender go test: %v", err)
	}
	folder := t.TempDir()
	scenes, err := corpus.Make(t.Context(), program, filepath.Join(folder, "made"), "^(cloth_step_3|drivers_simple|nodes_paths)$")
	if err != nil || len(scenes) != 3 {
		t.Fatalf("made %d scenes: %v", len(scenes), err)
	}
	results := filepath.Join(folder, "results.jsonl")
	err = corpus.Config{Blender: program, Threads: 1, Folder: folder, Lanes: len(scenes), Report: func(r corpus.Row) error {
		if !r.Equal() || !r.Lively || r.Kills == 0 {
			t.Errorf("%s: %+v", r.Scene.Name, r)
		}
		if r.Scene.Kind == "compositor" && r.Written != 21 {
			t.Errorf("by hand %d files were written next to the frames", r.Written)
		}
		return corpus.Append(results, r)
	}}.Compare(t.Context(), scenes)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := corpus.Results(results); err != nil || len(rows) != len(scenes) || !rows[0].Sound() {
		t.Errorf("of the results %d rows read back: %v", len(rows), err)
	}
}
