//go:build !linux

package gpu

// affinity is not known here.
func affinity() []int { return nil }
