package sandbox

import (
	"errors"
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

// Layer is one thing that stands between a program and the machine.
type Layer struct {
	Name string
	// Found says what is in force, or what stands in for it.
	Found string
	// Lacks is why the layer is missing or weaker; "" where it is whole.
	Lacks string
}

// Layers lists every layer, also those that are missing, the outermost first.
func (r Report) Layers() []Layer {
	found := map[string]string{}
	if len(r.Namespaces) > 0 {
		found[layerNamespaces] = "bubblewrap (" + strings.Join(r.Namespaces, " ") + ")"
	}
	if r.Landlock > 0 {
		found[layerLandlock] = fmt.Sprintf("version %d", r.Landlock)
	}
	if r.Seccomp {
		found[layerSeccomp] = "system calls are filtered"
	}
	if r.Cgroup > 0 {
		found[layerGroup] = fmt.Sprintf("version %d", r.Cgroup)
	} else if r.Mode != Off {
		found[layerGroup] = "none; resource limits stand in"
	}
	if len(r.Limits) > 0 {
		found[layerLimits] = strings.Join(r.Limits, ", ")
	}
	layers := make([]Layer, 0, len(layerNames))
	for _, name := range layerNames {
		l := Layer{Name: name, Found: found[name]}
		for _, lack := range r.Lacking {
			if why, of := strings.CutPrefix(lack, name+": "); of {
				l.Lacks = why
			}
		}
		if l.Found == "" {
			l.Found = "not in force"
		}
		layers = append(layers, l)
	}
	return layers
}

// Layers, as a report and what it lacks name them.
const (
	layerNamespaces = "namespaces"
	layerLandlock   = "landlock"
	layerSeccomp    = "seccomp"
	layerGroup      = "control group"
	layerLimits     = "limits"
)

var layerNames = [...]string{layerNamespaces, layerLandlock, layerSeccomp, layerGroup, layerLimits}

// Missing says which layer that Required demands is not in force; nil for none. A control
// group is not among them: resource limits stand in.
func (r Report) Missing() error {
	switch {
	case r.Landlock == 0:
		return errors.New("landlock is not in force: switch it on in the kernel (lsm=landlock,...), or choose --sandbox auto")
	case !r.Seccomp:
		return errors.New("seccomp is not in force: the kernel must filter system calls (CONFIG_SECCOMP_FILTER), or choose --sandbox auto")
	}
	return nil
}

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
