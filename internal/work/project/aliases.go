package project

import (
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/render/scenefiles/alias"
)

// MaxAliases bounds the aliases of a manifest.
const MaxAliases = MaxFiles

// Alias is a further name of a file: the .blend looks at At for the file at Path. Workers put
// it there too. It is not a file of its own: no hash and no receipt includes it.
type Alias struct {
	Path string `json:"path"`
	At   string `json:"at"` // in the form of alias.Alias
}

// SetAliases gives the project the aliases that its rules allow, and leaves out others: names
// that no worker can make, and places where the project has a file or a folder. whole is
// false when there are more than MaxAliases.
func (m *Manifest) SetAliases(all []alias.Alias) (whole bool) {
	at := m.places()
	m.Aliases = nil
	for _, a := range all {
		if at.add(Alias(a)) != nil {
			continue
		}
		if len(m.Aliases) == MaxAliases {
			return false
		}
		m.Aliases = append(m.Aliases, Alias(a))
	}
	return true
}

// checkAliases refuses a manifest whose aliases SetAliases would not have set.
func (m Manifest) checkAliases() error {
	if len(m.Aliases) > MaxAliases {
		return fmt.Errorf("a project has %d aliases at most, not %d", MaxAliases, len(m.Aliases))
	}
	at := m.places()
	for _, a := range m.Aliases {
		if err := at.add(a); err != nil {
			return err
		}
	}
	return nil
}

// places are the names that a project takes up.
type places struct{ files, folders map[string]bool }

func (m Manifest) places() places {
	p := places{map[string]bool{}, map[string]bool{}}
	for _, f := range m.Files {
		p.take(f.Path)
	}
	return p
}

// take registers a file and its folders.
func (p places) take(path string) {
	p.files[path] = true
	for folder := range foldersOf(path) {
		p.folders[folder] = true
	}
}

// add registers an alias, or says why it is impossible.
func (p places) add(a Alias) error {
	inside := strings.TrimPrefix(a.At, "/")
	for strings.HasPrefix(inside, "../") && !strings.HasPrefix(a.At, "/") {
		inside = inside[len("../"):]
	}
	if err := CheckPath(inside); err != nil {
		return err
	}
	taken := p.files[a.At] || p.folders[a.At]
	for folder := range foldersOf(a.At) {
		taken = taken || p.files[folder]
	}
	switch {
	case slices.ContainsFunc(strings.Split(inside, "/"), func(name string) bool { return len(name) > maxNameBytes }):
		return fmt.Errorf("the alias %q has a name of more than %d bytes", a.At, maxNameBytes)
	case !alias.Placeable(a.At):
		return fmt.Errorf("no worker can put a file at %q", a.At)
	case !p.files[a.Path]:
		return fmt.Errorf("the alias %q is of %q, which is not in the project", a.At, a.Path)
	case taken:
		return fmt.Errorf("the alias %q is where the project has something else", a.At)
	}
	p.take(a.At)
	return nil
}

// foldersOf yields the folders that a path lies in.
func foldersOf(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i, r := range path {
			if r == '/' && !yield(path[:i]) {
				return
			}
		}
	}
}

// sortedAliases are the aliases by their places.
func (m Manifest) sortedAliases() []Alias {
	return slices.SortedFunc(slices.Values(m.Aliases), func(a, b Alias) int { return strings.Compare(a.At, b.At) })
}
