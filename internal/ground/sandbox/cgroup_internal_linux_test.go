package sandbox

import (
	"maps"
	"testing"
)

// The texts are those of real machines, cut to what matters.
func TestTheOwnGroupIsFoundWhereverItIsMounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mounts, groups string
		want           map[string]place
	}{
		"version 2, a service of systemd": {
			"30 24 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
			"0::/system.slice/svc-worker.service",
			map[string]place{"memory/2": {2, "/sys/fs/cgroup/system.slice/svc-worker.service", "/sys/fs/cgroup"}},
		},
		"version 2, a container with a namespace of its own": {
			"900 880 0:27 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw",
			"0::/",
			map[string]place{"memory/2": {2, "/sys/fs/cgroup", "/sys/fs/cgroup"}},
		},
		"version 1, a container that sees the host's paths": {
			"41 33 0:36 /docker/abc /sys/fs/cgroup/memory ro master:11 - cgroup cgroup rw,memory\n" +
				"42 33 0:37 /docker/abc /sys/fs/cgroup/pids ro master:12 - cgroup cgroup rw,pids",
			"4:memory:/docker/abc\n5:pids:/docker/abc\n0::/",
			map[string]place{
				"memory": {1, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory"},
				"pids":   {1, "/sys/fs/cgroup/pids", "/sys/fs/cgroup/pids"},
			},
		},
		"both versions, controllers in the first": {
			"26 22 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"27 22 0:25 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"35 22 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
			"4:memory:/work/one\n2:cpu,cpuacct:/\n0::/",
			map[string]place{
				"memory":   {1, "/sys/fs/cgroup/memory/work/one", "/sys/fs/cgroup/memory"},
				"cpu":      {1, "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
				"cpuacct":  {1, "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
				"memory/2": {2, "/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified"},
			},
		},
		"none": {"22 1 0:20 / /proc rw - proc proc rw", "0::/", map[string]place{}},
	} {
		if got := findPlaces(c.mounts, c.groups); !maps.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
