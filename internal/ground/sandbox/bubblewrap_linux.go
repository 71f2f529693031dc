package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// systemFolders holds programs and their libraries. A folder that is a link here,
// as /lib is on most systems, is the same link inside.
var systemFolders = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// systemFiles is what libraries read of the machine's configuration: where
// libraries, fonts and GPU drivers are. None of it names a person or holds a
// secret; /etc as a whole would.
var systemFiles = [...]string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts", "/etc/localtime",
	"/etc/OpenCL", "/etc/vulkan", "/etc/glvnd", "/sys/devices/system",
}

// gpuSystem is what GPU drivers and the compilers of their kernels read in
// addition; Debian keeps nvcc's settings in /etc.
var gpuSystem = []string{"/sys", "/opt/rocm", "/opt/intel", "/opt/cuda", "/etc/nvcc.profile"}

// gpuNodes are the device nodes of NVIDIA, AMD and Intel, and those of WSL.
var gpuNodes = [...]string{"/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/dxg"}

// devices returns the GPUs' device nodes, and folders of nodes, that exist below
// root. Tests pass another root than "/".
func devices(root string) (nodes []string) {
	for _, pattern := range gpuNodes {
		found, _ := filepath.Glob(filepath.Join(root, pattern)) // the patterns are well-formed
		nodes = append(nodes, found...)
	}
	return nodes
}

// system returns all paths of the machine that any sandboxed program may read, without those
// of /proc.
func system() []string {
	return append(append([]string{}, systemFolders[:]...), systemFiles[:]...)
}

// ownName is what our own program is called inside, where its first process names it in its
// command line.
const ownName = "/svc/sandbox"

// named returns the names inside of paths.
func (s *Sandbox) named(c Command, paths []string) []string {
	if s.bwrap == "" {
		return paths
	}
	inside := make([]string, len(paths))
	for i, path := range paths {
		inside[i] = c.inside(path)
	}
	return inside
}

// inside returns the name inside of a path.
func (c Command) inside(path string) string {
	if name, ok := c.Inside[path]; ok {
		return name
	}
	return path
}

// privateTmp bounds the sandbox's own /tmp, in bytes. It lies in memory; without a
// control group nothing else would limit it.
const privateTmp = 256 << 20

// rootFolders are the folders of Command.Root, as they are named inside.
func rootFolders(root string) (folders []string, err error) {
	if root == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("read the root of the sandbox: %w", err)
	}
	for _, e := range entries {
		folders = append(folders, "/"+e.Name())
	}
	return folders, nil
}

// bubblewrap returns bubblewrap's arguments up to the program's own. The root is an
// empty file system of its own, or Command.Root: what is not bound into it does not exist
// inside. It becomes read-only at the end, after everything is mounted. --new-session keeps
// the program from typing into a terminal of ours, and --die-with-parent ends it
// with us. --info-fd reports the first process, and --block-fd holds the program
// until its control group is set.
func (s *Sandbox) bubblewrap(c Command, h *handshake) []string {
	args := append(s.unshare[:len(s.unshare):len(s.unshare)],
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "render")
	if c.Root != "" {
		args = append(args, "--bind", c.Root, "/")
	}
	for _, path := range systemFolders {
		if target, err := os.Readlink(path); err == nil {
			args = append(args, "--symlink", target, path)
		} else {
			args = append(args, "--ro-bind-try", path, path)
		}
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", strconv.Itoa(privateTmp), "--tmpfs", "/tmp")
	read := append(systemFiles[:len(systemFiles):len(systemFiles)], c.Read...)
	if c.GPU {
		read = append(read, gpuSystem...)
		for _, node := range devices("/") {
			args = append(args, "--dev-bind", node, node)
		}
	}
	for _, path := range read {
		args = append(args, "--ro-bind-try", path, c.inside(path))
	}
	args = append(args, "--ro-bind", s.self[0], ownName)
	for _, path := range c.Write {
		args = append(args, "--bind-try", path, c.inside(path))
	}
	args = append(args, "--remount-ro", "/", "--chdir", c.Dir, "--info-fd", strconv.Itoa(h.infoFD))
	if h.ready != nil {
		args = append(args, "--block-fd", strconv.Itoa(h.readyFD))
	}
	return args
}
