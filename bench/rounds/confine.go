package rounds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// confinePeriod is how often a confined process gets its time: short, so that it is slow
// rather than away for long.
const confinePeriod = 10 * time.Millisecond

// Confine gives a process so many cores, as a machine has that is small: 0.15 is 15 % of
// one. free removes the bound; call it when the process has ended. It takes Linux's control
// groups, version 1 or 2, and root. Error: errors.ErrUnsupported where a machine has no such
// group, or allows none.
func Confine(pid int, cores float64) (free func() error, err error) {
	period := strconv.FormatInt(confinePeriod.Microseconds(), 10)
	quota := strconv.FormatInt(int64(cores*float64(confinePeriod.Microseconds())), 10)
	folder, bounds := "/sys/fs/cgroup/cpu", map[string]string{"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota}
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		folder, bounds = "/sys/fs/cgroup", map[string]string{"cpu.max": quota + " " + period}
	}
	folder = filepath.Join(folder, fmt.Sprintf("svc-bench-%d", pid))
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, fmt.Errorf("%w: no control group can be made: %w", errors.ErrUnsupported, err)
	}
	free = func() error { return os.Remove(folder) }
	bounds["cgroup.procs"] = strconv.Itoa(pid)
	for name, bound := range bounds {
		// The kernel makes the files of a group; O_CREATE would hide that one is missing.
		f, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(bound)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("%w: the control group takes no bound: %w", errors.ErrUnsupported, errors.Join(err, free()))
		}
	}
	return free, nil
}
