package blendfile

import (
	"path"
	"strings"
)

// NormalisePath writes a path as Blender stored it in one form for all systems:
// forward slashes, no "." and no ".." that can be resolved, no doubled slashes.
// What it is relative to stays to be seen: "//" leads a path relative to the
// .blend, "/" an absolute one, "C:/" one on a Windows drive, and "\\" keeps
// leading a Windows network path.
func NormalisePath(p string) string {
	if p == "" {
		return ""
	}
	network := strings.HasPrefix(p, `\\`)
	p = strings.ReplaceAll(p, `\`, "/")
	switch {
	case network:
		return `\\` + strings.TrimPrefix(path.Clean(p), "/")
	case strings.HasPrefix(p, "//"):
		return "//" + strings.TrimPrefix(path.Clean("./"+strings.TrimLeft(p, "/")), "./")
	}
	return path.Clean(p)
}
