package sandbox

import (
	"fmt"
	"strings"
)

// Report is what is in force around a program, for the operator. Its slices are
// shared and must not be changed.
type Report struct {
	Mode       Mode     `json:"mode"`
	Namespaces []string `json:"namespaces"` // of bubblewrap; none where it is not used
	Landlock   int      `json:"landlock"`   // the kernel's ABI version; 0 where it is not used
	Seccomp    bool     `json:"seccomp"`    // system calls are filtered
	Cgroup     int      `json:"cgroup"`     // 1 or 2; 0 where resource limits stand in
	Limits     []string `json:"limits"`     // "memory 20.1 GiB", each that holds
	Lacking    []string `json:"lacking"`    // what is not in force, and why
}

// String returns the report in one line, as the worker's log and registration have
// it; "none" when nothing is in force.
func (r Report) String() string {
	var parts []string
	if len(r.Namespaces) > 0 {
		parts = append(parts, "bubblewrap ("+strings.Join(r.Namespaces, " ")+")")
	}
	if r.Landlock > 0 {
		parts = append(parts, fmt.Sprintf("landlock %d", r.Landlock))
	}
	if r.Seccomp {
		parts = append(parts, "seccomp")
	}
	if r.Cgroup > 0 {
		parts = append(parts, fmt.Sprintf("cgroup v%d", r.Cgroup))
	}
	parts = append(parts, r.Limits...)
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// Complete reports whether all layers and every limit are in force.
func (r Report) Complete() bool { return len(r.Lacking) == 0 }

// Size writes bytes for people: "20.6 GiB", "512 bytes".
func Size(bytes int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
