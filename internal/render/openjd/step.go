package openjd

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// step is a step of a template. It is understood if it renders frames, one for each task, with
// the submitter's adaptor or with Blender's command line.
type step struct {
	Name  string `yaml:"name"`
	Space struct {
		Parameters  []taskParameter `yaml:"taskParameterDefinitions"`
		Combination string          `yaml:"combination"`
	} `yaml:"parameterSpace"`
	Environments []struct {
		Script script `yaml:"script"`
	} `yaml:"stepEnvironments"`
	Script script `yaml:"script"`
}

type script struct {
	Actions struct {
		Run struct {
			Command string   `yaml:"command"`
			Args    []string `yaml:"args"`
		} `yaml:"onRun"`
	} `yaml:"actions"`
	Files []struct {
		Name string `yaml:"name"`
		Data string `yaml:"data"`
	} `yaml:"embeddedFiles"`
}

type taskParameter struct {
	Name  string `yaml:"name"`
	Type  string `yaml:"type"`
	Range texts  `yaml:"range"`
}

// texts is a list, or one text.
type texts []string

// UnmarshalYAML takes both.
func (t *texts) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = texts{node.Value}
		return nil
	}
	var list []value
	if err := node.Decode(&list); err != nil {
		return err
	}
	for _, v := range list {
		*t = append(*t, string(v))
	}
	return nil
}

// choose reads all steps and returns the one that is ordered.
func (v values) choose(steps []step, choice Choice) (*Order, error) {
	var orders []*Order
	var layers []string
	for i := range steps {
		order, err := v.read(&steps[i], choice.Camera)
		if err != nil {
			return nil, err
		}
		if layer := order.Settings.ViewLayer; choice.ViewLayer == "" || layer == choice.ViewLayer || layer == "" {
			orders = append(orders, order)
		}
		layers = append(layers, order.Settings.ViewLayer)
	}
	switch {
	case len(steps) == 0:
		return nil, refusef("has no step")
	case len(orders) == 0:
		return nil, refusef("does not render the view layer %s, but %s", choice.ViewLayer, strings.Join(layers, ", "))
	case len(orders) > 1 && slices.Contains(layers, ""):
		return nil, refusef("has %d steps; an order renders one", len(steps))
	case len(orders) > 1:
		return nil, refusef("renders %d view layers. Order each of them with --view-layer: %s", len(orders), strings.Join(layers, ", "))
	}
	return orders[0], nil
}

// read returns what a step renders.
func (v values) read(s *step, camera string) (*Order, error) {
	order, err := v.renders(s)
	if err != nil {
		return nil, err
	}
	if c := strings.Join(strings.Fields(s.Space.Combination), ""); strings.ContainsAny(c, "()") {
		return nil, refusef("combines the parameters of step %s as %.80s", s.Name, s.Space.Combination)
	}
	for _, p := range s.Space.Parameters {
		var filled []string
		for _, text := range p.Range {
			text, err := v.fill(text)
			if err != nil {
				return nil, err
			}
			filled = append(filled, text)
		}
		switch {
		case (p.Type == "INT" || p.Type == "CHUNK[INT]") && order.Frames == "":
			order.Frames = strings.Join(filled, ",")
		case p.Type == "STRING" && p.Name == "Camera":
			if order.Settings.Camera, err = one(filled, camera); err != nil {
				return nil, err
			}
		default:
			return nil, refusef("varies %s in step %s; an order varies frames only", p.Name, s.Name)
		}
	}
	if order.Frames == "" {
		return nil, refusef("has no frames in step %s", s.Name)
	}
	return order, nil
}

// one is the camera of an order.
func one(cameras []string, chosen string) (string, error) {
	switch {
	case len(cameras) == 1 && chosen == "":
		return cameras[0], nil
	case chosen == "":
		return "", refusef("renders %d cameras. Order each of them with --camera: %s", len(cameras), strings.Join(cameras, ", "))
	case !slices.Contains(cameras, chosen):
		return "", refusef("does not render the camera %s, but %s", chosen, strings.Join(cameras, ", "))
	}
	return chosen, nil
}

// renders reads what a step runs.
func (v values) renders(s *step) (*Order, error) {
	scripts := []script{s.Script}
	for _, e := range s.Environments {
		scripts = append(scripts, e.Script)
	}
	for _, one := range scripts {
		for _, file := range one.Files {
			if init := initData(nil); yaml.Unmarshal([]byte(references(file.Data)), &init) == nil && init["scene_file"] != "" {
				return v.adaptor(s.Name, init)
			}
		}
	}
	run := s.Script.Actions.Run
	lines := strings.Join(append([]string{run.Command}, run.Args...), " ")
	for _, file := range s.Script.Files {
		if strings.Contains(lines, "Task.File."+file.Name) {
			return v.commandLine(s.Name, file.Data)
		}
	}
	return v.commandLine(s.Name, lines)
}

// references quotes lines whose value begins with a reference: what the submitter writes is YAML
// only after the references are replaced.
func references(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if key, rest, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(rest, "{{") {
			lines[i] = key + ": " + strconv.Quote(rest)
		}
	}
	return strings.Join(lines, "\n")
}

// initData is what the submitter's adaptor is started with.
type initData map[string]string

// adaptor reads it. A member that is not known here may change the picture, so it is refused.
func (v values) adaptor(name string, data initData) (*Order, error) {
	var o Order
	for key, text := range data {
		text, err := v.fill(text)
		if err != nil {
			return nil, err
		}
		switch key {
		case "scene_file":
			o.Scene = text
		case "render_engine", "renderer":
			o.Engine = engine(text)
		case "render_scene":
			o.Settings.Scene = text
		case "view_layer":
			o.Settings.ViewLayer = text
		case "camera":
			o.Settings.Camera = text
		case "output_dir":
			o.Out = text
		case "output_file_name", "output_file_prefix":
			o.Name = text
		case "output_format":
			o.Format = format(text)
		case "image_width", "image_height":
			pixels, err := strconv.Atoi(text)
			if err != nil {
				return nil, refusef("has %s %.40q in step %s, which is no number", key, text, name)
			}
			if key == "image_width" {
				o.Settings.ResolutionX = pixels
			} else {
				o.Settings.ResolutionY = pixels
			}
		case "gpu_device", "strict_error_checking", "version": // no influence on a picture that is delivered
		default:
			return nil, refusef("sets %s in step %s, which an order cannot do", key, name)
		}
	}
	return &o, nil
}

// idle are commands of a script that change no picture.
var idle = []string{"set", "mkdir", "echo", "true", ":"}

// commandLine reads a script whose only work is one call of Blender.
func (v values) commandLine(name, text string) (order *Order, err error) {
	text = reference.ReplaceAllString(strings.ReplaceAll(text, "\\\n", " "), "{{$1}}") // a reference is one word
	for line := range strings.Lines(text) {
		words := split(line)
		switch {
		case len(words) == 0, strings.HasPrefix(words[0], "#"), slices.Contains(idle, words[0]):
		case strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-"): // a variable
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

// arguments reads those of Blender that say what is rendered, and refuses the others.
func (v values) arguments(name string, words []string) (_ *Order, err error) {
	for i := range words {
		if words[i], err = v.fill(words[i]); err != nil {
			return nil, err
		}
	}
	var o Order
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		var to *string
		switch word {
		case "-b", "--background", "-noaudio", "--factory-startup", "-a", "--render-anim", "-Y", "--disable-autoexec":
			continue
		case "-f", "--render-frame", "-s", "--frame-start", "-e", "--frame-end", "-j", "--frame-jump", "-x", "--use-extension", "-t", "--threads", "--python-exit-code":
			to = new(string) // the task's parameter has the frames
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
	if o.Out != "" {
		o.Out, o.Name = filepath.Split(o.Out)
		o.Out = strings.TrimSuffix(o.Out, "/")
	}
	o.Format, o.Engine = format(o.Format), engine(o.Engine)
	return &o, nil
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
