package sandbox

// Refused is for tests.
var Refused = refused

// GPUFiles is for tests.
var GPUFiles = gpuFiles

// WithGPUs changes a sandbox to one of a machine with the GPUs of another root.
func (s *Sandbox) WithGPUs(root string) { s.gpuFiles = gpuFiles(root) }
