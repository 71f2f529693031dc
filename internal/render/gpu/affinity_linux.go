package gpu

import "golang.org/x/sys/unix"

// affinity returns the processors that this process may run on; nil if Linux does not say.
func affinity() (cpus []int) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	for n := range len(set) * 64 {
		if set.IsSet(n) {
			cpus = append(cpus, n)
		}
	}
	return cpus
}
