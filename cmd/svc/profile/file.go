package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/osfile"
)

// DefaultName is the profile that counts where none is named.
const DefaultName = "default"

// Stored is one profile. Each member may be missing.
type Stored struct {
	Server      string `json:"server,omitempty"`
	AgentKey    string `json:"agent_key,omitempty"`
	AccountKey  string `json:"account_key,omitempty"`
	OperatorKey string `json:"operator_key,omitempty"`
	SignedIn    SignIn `json:"signed_in,omitzero"`

	name string // that it was read by
}

// key returns the profile's key of the first of a caller's kinds that it has: agent keys come
// first. An operator key never stands in for one (see Operator).
func (p Stored) key(kind Kind) string {
	if kind&AgentKey != 0 && p.AgentKey != "" {
		return p.AgentKey
	}
	if kind&AccountKey != 0 {
		return p.AccountKey
	}
	return ""
}

// keep saves a key as the one of its kind.
func (p *Stored) keep(key string) {
	switch kindOf(key) {
	case AgentKey:
		p.AgentKey = key
	case OperatorKey:
		p.OperatorKey = key
	default:
		p.AccountKey = key
	}
}

// home is where the profile's keys belong.
func (p Stored) home() string { return first(p.Server, DefaultServer) }

// file is all profiles, as they are on the disk.
type file struct {
	Profiles map[string]Stored `json:"profiles"`
	Current  string            `json:"current,omitempty"` // the profile of svc config use
}

// Names returns the names of all profiles, in order; none where they cannot be read.
func Names() []string {
	all, err := readAll()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all.Profiles))
}

// names lists the profiles for a message.
func (f file) names() string {
	if len(f.Profiles) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(f.Profiles)), ", ")
}

// Path is where the profiles of this person are, by the platform's convention:
// ~/.config/svc/config.json on Linux, or in $XDG_CONFIG_HOME; ~/Library/Application
// Support/svc/config.json on macOS; %AppData%\svc\config.json on Windows. It fails
// where the environment names no home.
func Path() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for settings: %w", err)
	}
	return filepath.Join(folder, "svc", "config.json"), nil
}

// read reads the profiles. A missing file has none, and so has the path "". A member
// that this version does not know is refused: writing would lose it.
func read(path string) (file, error) {
	all := file{Profiles: map[string]Stored{}}
	if path == "" {
		return all, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, fmt.Errorf("the profiles cannot be read: %w. Make the file and its folder readable for this user; svc config path prints the path", err)
	}
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	if err := from.Decode(&all); err != nil {
		return all, fmt.Errorf("%s is not a valid file of profiles: %w. Fix it, or move it away and start again with svc config set", path, err)
	}
	if all.Profiles == nil {
		all.Profiles = map[string]Stored{}
	}
	return all, nil
}

// change rewrites one profile, see changeIf.
func change(name string, with func(*Stored)) (path string, err error) {
	return changeIf(name, func(p *Stored) error {
		with(p)
		return nil
	})
}

// changeIf rewrites one profile, unless with fails or changes nothing. A profile that is left
// with nothing disappears.
func changeIf(name string, with func(*Stored) error) (path string, err error) {
	return rewrite(func(all *file) (changed bool, err error) {
		p := all.Profiles[name]
		if err := with(&p); err != nil || p == all.Profiles[name] {
			return false, err
		}
		if all.Profiles[name] = p; p == (Stored{}) {
			delete(all.Profiles, name)
		}
		return true, nil
	})
}

// choose notes the profile that counts where none is named.
func choose(name string) (path string, err error) {
	return rewrite(func(all *file) (changed bool, err error) {
		if _, there := all.Profiles[name]; !there && name != DefaultName {
			if len(all.Profiles) == 0 {
				return false, terminal.WrongUsagef("there is no profile %q. Save one with:\n  svc config set server URL --profile %s", name, name)
			}
			return false, terminal.WrongUsagef("there is no profile %q. Saved are: %s", name, all.names())
		}
		all.Current = name
		if name == DefaultName {
			all.Current = ""
		}
		return true, nil
	})
}

// chosen is the profile that a flag names, or the one that counts without it.
func chosen(name string) string {
	all, err := readAll()
	if name == "" && err == nil {
		name = all.Current
	}
	return first(name, DefaultName)
}

// rewrite changes the file of all profiles. It appears whole, and only its owner can read it.
// A lock next to the file keeps other commands from changing it meanwhile.
func rewrite(with func(*file) (changed bool, err error)) (path string, err error) {
	if path, err = Path(); err != nil {
		return "", err
	}
	// A link stays one: people keep their settings in another folder.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return "", fmt.Errorf("make the folder for settings: %w", err)
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("lock the profiles: %w", err)
	}
	defer lock.Close() // which ends the lock
	if err := osfile.Lock(lock); err != nil {
		return "", fmt.Errorf("lock the profiles: %w", err)
	}
	all, err := read(path)
	if err != nil {
		return "", err
	}
	if changed, err := with(&all); err != nil || !changed {
		return path, err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return "", err
	}
	return path, atomicfile.Replace(path, append(text, '\n'), 0o600)
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkName refuses a name that a shell or a table would not show as it is.
func checkName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%q is not a valid profile name: use 1 to 64 letters, digits, dots, dashes and underscores", name)
	}
	return nil
}
