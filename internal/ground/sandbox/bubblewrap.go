package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
)

// systemFolders is what programs are made of. What is a link here (/lib on most
// systems) is the same link inside.
var systemFolders = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// systemFiles is what libraries read of the machine's configuration: where
// libraries, fonts and GPU drivers are. Nothing that names a person or a secret.
var systemFiles = [...]string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts", "/etc/localtime",
	"/etc/OpenCL", "/etc/vulkan", "/etc/glvnd", "/sys/devices/system",
}

// gpuSystem is what GPU drivers and the compilers of their kernels read beside that;
// Debian keeps nvcc's settings in /etc.
var gpuSystem = []string{"/sys", "/opt/rocm", "/opt/intel", "/opt/cuda", "/etc/nvcc.profile"}

// gpuNodes are the device nodes of NVIDIA, AMD and Intel, and those of WSL.
var gpuNodes = [...]string{"/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/dxg"}

// devices are the GPUs' nodes, and folders of nodes, that are there below root.
func devices(root string) (nodes []string) {
	for _, pattern := range gpuNodes {
		found, _ := filepath.Glob(filepath.Join(root, pattern)) // the patterns are well-formed
		nodes = append(nodes, found...)
	}
	return nodes
}

// system is everything of the machine that any program may read.
func system() []string {
	all := append(append([]string{}, systemFolders[:]...), systemFiles[:]...)
	return append(all, "/proc")
}

// privateTmp bounds what may lie in the sandbox's own /tmp, which is memory.
const privateTmp = 256 << 20

// bubblewrap is its command line up to the program's.
func (s *Sandbox) bubblewrap(c Command, h *handshake) []string {
	args := append(s.unshare[:len(s.unshare):len(s.unshare)],
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "render")
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
	for _, path := range append(read, s.self[0]) {
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range c.Write {
		args = append(args, "--bind-try", path, path)
	}
	args = append(args, "--remount-ro", "/", "--chdir", c.Dir, "--info-fd", strconv.Itoa(h.infoFD))
	if h.ready != nil {
		args = append(args, "--block-fd", strconv.Itoa(h.readyFD))
	}
	return args
}
