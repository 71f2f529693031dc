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
		{"Python", "python", "python/svc_render", "__init__.py", regexp.MustCompile(`(?m)^from \.(\w+) import`), regexp.MustCompile(`^(?:(?:class|def) (\w+)|([A-Z]\w*) = (?:(?:Literal|Union)\[|TypedDict\())`), pythonOutline},
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

// declaration is the code at the left margin of a file under a name, with its comment.
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
			all = append(all, declaration{strings.Join(found[1:], ""), append(comment, line)})
			comment, within = nil, true
		case line != "" && line[0] == '/', strings.HasPrefix(line, "#: "):
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
func pythonOutline(lines []string) []string {
	o := outline{signature: true}
	for _, line := range lines {
		o.read(line)
	}
	return slices.CompactFunc(o.kept, func(a, b string) bool { return a == "" && b == "" })
}

// outline is what is kept of a declaration, and where in it the reader is.
type outline struct {
	kept                   []string
	signature, doc, hidden bool
}

func (o *outline) read(line string) {
	if pythonDef.MatchString(line) {
		o.hidden = pythonHidden.MatchString(line) && !strings.Contains(line, "def __init__")
		o.signature = true
		o.keep("")
	}
	bare := strings.TrimSpace(line)
	opens := !o.doc && strings.HasPrefix(bare, `"""`)
	if member := pythonSelf.FindStringSubmatch(line); member != nil && !o.doc {
		if strings.HasSuffix(o.kept[len(o.kept)-1], ":") {
			o.keep("")
		}
		o.keep("    " + member[1] + member[2] + member[3])
	} else if o.signature || opens || o.doc || pythonMember.MatchString(line) {
		o.keep(line)
	}
	o.doc = o.doc || opens
	if o.doc && strings.HasSuffix(bare, `"""`) && (!opens || len(bare) > len(`"""`)) {
		o.doc = false
		o.keep("")
	}
	o.signature = o.signature && !strings.HasSuffix(line, ":")
}

// keep keeps a line of what is not hidden.
func (o *outline) keep(line string) {
	if !o.hidden {
		o.kept = append(o.kept, line)
	}
}
