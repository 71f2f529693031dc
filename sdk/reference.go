package sdk

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Reference is the reference of an SDK in Markdown, made of its source: what its package
// exports, with the comments there and without what it does.
func Reference(language string) (string, error) {
	for _, r := range []struct {
		language, fence, folder, index string
		module, name                   *regexp.Regexp
		text                           func(declaration []string) []string
	}{
		{"Python", "python", "python/svc_render", "__init__.py", regexp.MustCompile(`(?m)^from \.(\w+) import`), regexp.MustCompile(`^(?:class|def) (\w+)`), pythonOutline},
		{"TypeScript", "ts", "typescript/lib", "index.d.ts", regexp.MustCompile(`from "\./(\w+)\.js"`), regexp.MustCompile(`^export (?:declare )?(?:class|interface|type|function|const) (\w+)`), typescriptOutline},
	} {
		if r.language != language {
			continue
		}
		files, err := read(r.folder)
		if err != nil {
			return "", err
		}
		index, names, parts := string(files[r.index]), []string{}, map[string]string{}
		for _, module := range r.module.FindAllStringSubmatch(index, -1) {
			for _, declaration := range declarations(string(files[module[1]+r.index[strings.Index(r.index, "."):]]), r.name) {
				name := declaration.name
				if _, known := parts[name]; !known && regexp.MustCompile(`\b`+name+`\b`).MatchString(index) {
					names = append(names, name)
					parts[name] = strings.TrimSpace(strings.Join(r.text(declaration.lines), "\n"))
				}
			}
		}
		slices.Sort(names)
		var out strings.Builder
		fmt.Fprintf(&out, "# Reference of the %s SDK\n\nMade of the source by `make generate`. [The README](../sdk/%s/README.md) is the place to begin; [the interface](interface.md) has the members of every response.\n", language, strings.ToLower(language))
		for _, name := range names {
			fmt.Fprintf(&out, "\n## %s\n\n```%s\n%s\n```\n", name, r.fence, parts[name])
		}
		return out.String(), nil
	}
	return "", fmt.Errorf("there is no SDK for %s", language)
}

// declaration is what stands at the left margin of a file under a name, with its comment.
type declaration struct {
	name  string
	lines []string
}

// declarations splits a file. name finds what a line at the margin declares.
func declarations(text string, name *regexp.Regexp) (all []declaration) {
	var comment []string
	within := false
	for line := range strings.SplitSeq(text, "\n") {
		switch found := name.FindStringSubmatch(line); {
		case found != nil:
			all = append(all, declaration{found[1], append(comment, line)})
			comment, within = nil, true
		case line != "" && line[0] == '/':
			comment, within = []string{line}, false
		case strings.HasPrefix(line, " *") && !within:
			comment = append(comment, line)
		case within && (line == "" || line[0] == ' ' || line[0] == '}' || line[0] == ')'):
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		default:
			comment, within = nil, false
		}
	}
	return all
}

// typescriptOutline leaves out what is private.
func typescriptOutline(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "    private ") })
}

var (
	pythonDef    = regexp.MustCompile(`^(?:    )?(?:async )?def `)
	pythonHidden = regexp.MustCompile(`^(?:    )?(?:async )?def _\w`)
	pythonSelf   = regexp.MustCompile(`^        self\.([a-z]\w*)(: \w+)? = .*?(  # .*)?$`)
	pythonMember = regexp.MustCompile(`^    [a-z]\w*: `)
)

// pythonOutline leaves the bodies of functions out: what is left are signatures, members and
// docstrings.
func pythonOutline(lines []string) (kept []string) {
	signature, doc, hidden := false, false, false
	for i, line := range lines {
		bare := strings.TrimSpace(line)
		if pythonDef.MatchString(line) {
			hidden = pythonHidden.MatchString(line) && !strings.Contains(line, "def __init__")
			signature = true
			if !hidden && i > 0 {
				kept = append(kept, "")
			}
		}
		if member := pythonSelf.FindStringSubmatch(line); member != nil && !doc {
			if strings.HasSuffix(kept[len(kept)-1], ":") {
				kept = append(kept, "")
			}
			kept = append(kept, "    "+member[1]+member[2]+member[3])
			continue
		}
		opens := !doc && strings.HasPrefix(bare, `"""`)
		if !hidden && (i == 0 || signature || opens || doc || pythonMember.MatchString(line)) {
			kept = append(kept, line)
		}
		if opens {
			doc = true
		}
		if doc && strings.HasSuffix(bare, `"""`) && (!opens || len(bare) > 5) {
			doc = false
			if i+1 < len(lines) && !hidden {
				kept = append(kept, "")
			}
		}
		if strings.HasSuffix(line, ":") {
			signature = false
		}
	}
	return slices.CompactFunc(kept, func(a, b string) bool { return a == "" && b == "" })
}
