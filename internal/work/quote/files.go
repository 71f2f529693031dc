package quote

import (
	"fmt"
	"strings"

	"svc.example/internal/render/scenefiles/alias"
)

// SceneFile is a file that a scene of a project names, or files that belong together: the
// tiles or the pictures of a set, a folder of caches.
type SceneFile struct {
	Path   string     `json:"path" doc:"Path in the project; for a missing file, the path where Blender looks for it."`
	Kind   string     `json:"kind" enum:"image,sequence,udim,movie,volume,font,sound,cache,simulation,library,color_config,lut"`
	From   string     `json:"from" doc:"The .blend of the project that names it."`
	Owner  string     `json:"owner,omitempty" doc:"The data-block that wants it."`
	UsedBy string     `json:"used_by,omitempty" doc:"What uses that data-block, such as \"material Floor\"."`
	Status FileStatus `json:"status" enum:"found,remapped,missing,packed,unused"`
	Wanted string     `json:"wanted,omitempty" doc:"Where Blender looks, of a file that is remapped."`
	Stored string     `json:"stored" doc:"The path as the .blend has it."`
}

// FileStatus says whether the project has a file that the scene names.
type FileStatus string

// The statuses. What the picture does not need is unused, there or not.
const (
	FileFound    FileStatus = "found"
	FileRemapped FileStatus = "remapped" // in the project, but not where Blender looks
	FileMissing  FileStatus = "missing"
	FilePacked   FileStatus = "packed"
	FileUnused   FileStatus = "unused"
)

// UnreadableFile is a file of the project that Blender cannot read.
type UnreadableFile struct {
	Path   string `json:"path" doc:"Where it is in the project."`
	Why    string `json:"why" doc:"Why it cannot be read, such as \"is a Git LFS pointer, not a picture\"."`
	Kind   string `json:"kind" doc:"As in files; \"light\" is an IES profile, and \"script\" a shader."`
	Owner  string `json:"owner" doc:"The data-block that wants it."`
	UsedBy string `json:"used_by,omitempty" doc:"What uses that data-block, such as \"material Floor\"."`
	From   string `json:"from,omitempty" doc:"The library that names it; absent for the main file."`
}

// MissingData is a data-block that the picture needs and that is not in its library.
type MissingData struct {
	Kind    string `json:"kind" doc:"What kind of data-block it is, such as \"object\"."`
	Name    string `json:"name"`
	Library string `json:"library" doc:"The library that lacks it: its path in the project."`
	UsedBy  string `json:"used_by,omitempty" doc:"What shows it, such as \"collection Props\"."`
	From    string `json:"from,omitempty" doc:"The library that links it; absent for the main file."`
}

// missingDataText names a data-block and its library, as in "object Hero of lib/props.blend".
func missingDataText(m MissingData) string {
	text := strings.TrimSpace(m.Kind+" "+m.Name) + " of " + m.Library
	if m.UsedBy == "" && m.From == "" {
		return text
	}
	return text + " (" + strings.TrimPrefix(strings.TrimSuffix("used by "+m.UsedBy, "used by ")+inLibrary(m.From), ", ") + ")"
}

// unreadableText says what is wrong with a file, and what uses it.
func unreadableText(f UnreadableFile) string {
	user := ""
	if f.UsedBy != "" {
		user = ", used by " + f.UsedBy
	}
	kind := f.Kind
	switch kind {
	case "light":
		kind = "light profile"
	case "script":
		kind = "shader"
	}
	return fmt.Sprintf("%s %s (%s %s%s%s)", f.Path, f.Why, kind, f.Owner, user, inLibrary(f.From))
}

// remapped lists the files that are in the project where Blender does not look: those that
// workers put where it does, and those that none can.
func (s Scene) remapped() (placed, unreachable []SceneFile) {
	for _, f := range s.Files {
		switch {
		case f.Status != FileRemapped:
		case alias.Placeable(f.Wanted):
			placed = append(placed, f)
		default:
			unreachable = append(unreachable, f)
		}
	}
	return placed, unreachable
}

// remappedText says where a file is and where it is wanted.
func remappedText(f SceneFile) string { return f.Path + " (wanted as " + f.Stored + ")" }
