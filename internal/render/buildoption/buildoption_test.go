package buildoption_test

import (
	"slices"
	"testing"

	"svc.example/internal/render/buildoption"
)

// Rows have the numbers, so they may never change.
func TestTheNumbersOfOptionsStay(t *testing.T) {
	t.Parallel()
	for option, want := range map[buildoption.Option]buildoption.Set{
		buildoption.Alembic: 1, buildoption.USD: 2, buildoption.OSL: 4, buildoption.OpenVDB: 8, buildoption.Movies: 16,
		buildoption.FileOutputs: 32, buildoption.Views: 64, buildoption.Encoders: 128,
	} {
		if got := buildoption.Of(option); got != want {
			t.Errorf("%s is %d, want %d", option, got, want)
		}
	}
}

func TestASetHasTheOptionsItIsMadeOf(t *testing.T) {
	t.Parallel()
	s := buildoption.Of(buildoption.OSL, "of a later version", buildoption.USD)
	if got := s.Options(); !slices.Equal(got, []buildoption.Option{buildoption.USD, buildoption.OSL}) {
		t.Errorf("the set has %v", got)
	}
	if !s.Has(buildoption.OSL) || s.Has(buildoption.Alembic) || s.Has("of a later version") {
		t.Errorf("the set %d has others than %v", s, s.Options())
	}
}
