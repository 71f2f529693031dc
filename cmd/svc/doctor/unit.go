package doctor

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Unit compares the unit that starts the service, as systemctl cat prints it, with the settings
// that commands of this machine have: by flag, such as data. Flags of the unit count before the
// configuration file, which the commands read too, so they would work on another store.
func Unit(text string, settings map[string]string) Finding {
	const check = "unit"
	flags := unitFlags(text)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if value, set := flags[name]; set && value != settings[name] {
			return wrong(check, "Run systemctl edit --full svc.service, take --"+name+" out of ExecStart, and set it in /etc/svc/config.json",
				"the unit starts the service with --%s %s, and commands use %s", name, value, cmp.Or(settings[name], "none"))
		}
	}
	return fine(check)
}

// unitFlags are the flags and the variables with which a unit starts svc serve. A later line
// counts instead of an earlier one.
func unitFlags(text string) map[string]string {
	flags, variables := map[string]string{}, map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		words := strings.Fields(value)
		for i, word := range words { // systemd's quotes are around a whole word; paths with spaces are not compared
			words[i] = strings.Trim(word, "\"'")
		}
		switch key {
		case "ExecStart":
			flags = flagsOf(words)
		case "Environment":
			for _, word := range words {
				if name, set, ok := strings.Cut(word, "="); ok {
					if name, ok = strings.CutPrefix(name, "SVC_"); ok {
						variables[strings.ToLower(strings.ReplaceAll(name, "_", "-"))] = set
					}
				}
			}
		}
	}
	maps.Copy(variables, flags)
	return variables
}

func flagsOf(words []string) map[string]string {
	flags := map[string]string{}
	for i, word := range words {
		name, ok := strings.CutPrefix(word, "--")
		if !ok {
			continue
		}
		if name, value, both := strings.Cut(name, "="); both {
			flags[name] = value
		} else if i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			flags[name] = words[i+1]
		}
	}
	return flags
}
