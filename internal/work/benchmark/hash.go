package benchmark

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// HardwareHash identifies the machine as a receipt describes it: the SHA-256, in hex, of
// one line "member=value" for each member that names hardware or system, in the order of
// the receipt. Unknown sizes are "null". No text contains a line break, so two machines
// have equal lines only if all members are equal.
func (r Receipt) HardwareHash() string {
	size := func(n *int64) string {
		if n == nil {
			return "null"
		}
		return strconv.FormatInt(*n, 10)
	}
	return hashOf(
		"render_device="+r.RenderDevice, "gpu_name="+r.GPUName, "gpu_vendor="+r.GPUVendor, "gpu_memory_bytes="+size(r.GPUMemoryBytes),
		"gpu_driver="+r.GPUDriver, "cpu_name="+r.CPUName, "ram_bytes="+size(r.RAMBytes), "os="+r.OS,
	)
}

// SceneHash identifies what a receipt was measured with: the SHA-256, in hex, of one line
// "scene=reference_sha256" for each scene, in the order of the receipt.
func (r Receipt) SceneHash() string {
	lines := []string{}
	for _, s := range r.Scenes {
		lines = append(lines, s.Scene+"="+s.ReferenceSHA256)
	}
	return hashOf(lines...)
}

// hashOf ends each line with a line feed.
func hashOf(lines ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}
