package openjd

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// idle are commands of a script that change no picture.
var idle = []string{"set", "mkdir", "echo", "true", ":"}

// assignment is a line that only sets a variable of the script, such as FRAMES=$(python frames.py 1-3).
var assignment = regexp.MustCompile(`^[A-Za-z_]\w*=("?\$\(|[^ ]*$|"[^"]*"$|'[^']*'$)`)

// commandLine reads a script whose only work is one call of Blender.
func (v values) commandLine(name, text string) (order *Order, err error) {
	text = reference.ReplaceAllString(strings.ReplaceAll(text, "\\\n", " "), "{{$1}}") // a reference is one word
	for line := range strings.Lines(text) {
		words := split(line)
		switch {
		case len(words) == 0, strings.HasPrefix(words[0], "#"):
		case slices.Contains(idle, words[0]):
			if i := strings.IndexAny(line, ";&|`"); i >= 0 {
				return nil, refusef("runs %.80q in step %s; an order runs Blender only", strings.TrimSpace(line), name)
			}
		case assignment.MatchString(strings.TrimSpace(line)) && (len(words) == 1 || strings.HasSuffix(words[len(words)-1], ")")):
		case filepath.Base(words[0]) != "blender":
			return nil, refusef("runs %.80q in step %s; an order runs Blender only", words[0], name)
		case order != nil:
			return nil, refusef("runs Blender several times in step %s", name)
		default:
			if order, err = v.arguments(name, words[1:]); err != nil {
				return nil, err
			}
		}
	}
	if order == nil {
		return nil, refusef("does not run Blender in step %s", name)
	}
	return order, nil
}

// all stands for the frames of a scene, which -a renders. No list of frames has it.
const all = "all"

// ofFrames are the arguments that say which frames Blender renders.
var ofFrames = []string{"-f", "--render-frame", "-s", "--frame-start", "-e", "--frame-end", "-j", "--frame-jump"}

// numbers are the values of these arguments.
type numbers struct{ one, start, end, step string }

// frames is the list that they make; "" where a task's parameter is in them, or a variable of the
// script that is made of it.
func (n numbers) frames(name string, animation bool) (string, error) {
	for _, text := range []string{n.one, n.start, n.end, n.step} {
		if strings.ContainsAny(text, "$`") || strings.Contains(text, "{{") {
			return "", nil
		}
	}
	for _, text := range []string{n.one, n.start, n.end} {
		if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
			return "", refusef("renders the frame %.40s of step %s, which counts from the scene's; write its number", text, name)
		}
	}
	switch {
	case !animation:
		return n.one, nil
	case n.one != "":
		return "", refusef("runs Blender in step %s with -f and -a; an order renders frames once", name)
	case n.start == "" && n.end == "" && n.step == "":
		return all, nil
	case n.start == "" || n.end == "":
		return "", refusef("runs Blender in step %s with -a and without both -s and -e; svc render --frames can say which frames", name)
	case n.step != "":
		return n.start + "-" + n.end + "x" + n.step, nil
	}
	return n.start + "-" + n.end, nil
}

// arguments reads those of Blender that say what is rendered, and refuses the others.
func (v values) arguments(name string, words []string) (_ *Order, err error) {
	before := ""
	for i, word := range words {
		if strings.ContainsAny(word, "$`") && !slices.Contains(ofFrames, before) {
			return nil, refusef("runs Blender in step %s with %.80q; svc runs no shell that knows its value", name, word)
		}
		before = word
		if words[i], err = v.fill(word); err != nil {
			return nil, err
		}
	}
	var o Order
	var n numbers
	animation := false
	ignored := ""
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		to := &ignored
		switch word {
		case "-a", "--render-anim":
			animation = true
			continue
		case "-b", "--background", "-noaudio", "--factory-startup", "-Y", "--disable-autoexec", "--", "--cycles-print-stats":
			continue
		case "-x", "--use-extension", "-t", "--threads", "--python-exit-code", "--cycles-device":
		case "-f", "--render-frame":
			to = &n.one
		case "-s", "--frame-start":
			to = &n.start
		case "-e", "--frame-end":
			to = &n.end
		case "-j", "--frame-jump":
			to = &n.step
		case "-o", "--render-output":
			to = &o.Out
		case "-F", "--render-format":
			to = &o.Format
		case "-E", "--engine":
			to = &o.Engine
		case "-S", "--scene":
			to = &o.Settings.Scene
		default:
			if strings.HasPrefix(word, "-") || o.Scene != "" {
				return nil, refusef("runs Blender with %.80q in step %s, which an order cannot do", word, name)
			}
			o.Scene = word
			continue
		}
		if len(words) == 0 {
			return nil, refusef("runs Blender in step %s with %s and no value", name, word)
		}
		*to, words = words[0], words[1:]
	}
	if o.Frames, err = n.frames(name, animation); err != nil {
		return nil, err
	}
	if o.Out != "" {
		o.Out, o.Name = filepath.Split(o.Out)
		if o.Out != "//" {
			o.Out = strings.TrimSuffix(o.Out, "/")
		}
	}
	o.Format, o.Engine = format(o.Format), engine(o.Engine)
	return &o, nil
}

// quoted makes one line of words, which split cuts into the same ones.
func quoted(words []string) string {
	var line strings.Builder
	for _, word := range words {
		line.WriteString("\"" + strings.ReplaceAll(word, "\"", "\"'\"'\"") + "\" ")
	}
	return line.String()
}

// split cuts a line into words, as a shell does with plain quotes.
func split(line string) (words []string) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && strings.ContainsRune(" \t\n\r", r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// engine is Blender's name of an engine.
func engine(name string) string {
	switch strings.ToLower(name) {
	case "eevee":
		return "BLENDER_EEVEE"
	case "workbench":
		return "BLENDER_WORKBENCH"
	}
	return strings.ToUpper(name)
}

// format is Blender's own name of a format, for those of its command line.
func format(name string) string {
	switch strings.ToUpper(name) {
	case "TGA":
		return "TARGA"
	case "RAWTGA":
		return "TARGA_RAW"
	case "IRIZ":
		return "IRIS"
	case "JP2":
		return "JPEG2000"
	case "EXR":
		return "OPEN_EXR"
	case "MULTILAYER":
		return "OPEN_EXR_MULTILAYER"
	}
	return strings.ToUpper(name)
}
