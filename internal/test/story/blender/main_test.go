package blender_test

import (
	"os"
	"testing"

	"svc.example/internal/test/story"
)

func TestMain(m *testing.M) { os.Exit(story.Run(m)) }
