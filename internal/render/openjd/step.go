package openjd

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// step is a step of a template. It is understood if it renders frames, one for each task, with
// the submitter's adaptor or with Blender's command line.
type step struct {
	Name         string `yaml:"name"`
	Description  any    `yaml:"description"`
	Dependencies any    `yaml:"dependencies"`
	Host         any    `yaml:"hostRequirements"`
	Space        struct {
		Parameters  []taskParameter `yaml:"taskParameterDefinitions"`
		Combination string          `yaml:"combination"`
	} `yaml:"parameterSpace"`
	Environments []environment `yaml:"stepEnvironments"`
	Script       script        `yaml:"script"`
	Rest         rest          `yaml:",inline"`
}

// environment is what surrounds the tasks of a step, or of all steps.
type environment struct {
	Name      string           `yaml:"name"`
	Variables map[string]value `yaml:"variables"`
	Script    script           `yaml:"script"`
}

type script struct {
	Actions struct {
		Run   action `yaml:"onRun"`
		Enter action `yaml:"onEnter"`
	} `yaml:"actions"`
	Files []struct {
		Name string `yaml:"name"`
		Data string `yaml:"data"`
	} `yaml:"embeddedFiles"`
}

type action struct {
	Command string   `yaml:"command"`
	Args    []string `yaml:"args"`
}

// ofAdaptor reports whether an action calls the submitter's adaptor, under whichever name.
func (a action) ofAdaptor(does string) bool {
	i := slices.Index(a.Args, "daemon")
	return i >= 0 && i+1 < len(a.Args) && a.Args[i+1] == does
}

// ofJob reads the environments of a whole job. None may run anything.
func (v values) ofJob(all []environment) (ocio string, err error) {
	for _, e := range all {
		if e.Script.Actions.Enter.Command != "" {
			return "", refusef("runs %.80q in the environment %s; svc runs nothing of a bundle", e.Script.Actions.Enter.Command, e.Name)
		}
		if ocio, err = v.variables(e, ocio); err != nil {
			return "", err
		}
	}
	return ocio, nil
}

// variables reads those of an environment: the OpenColorIO configuration is all that an order has.
func (v values) variables(e environment, ocio string) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(e.Variables)) {
		if name != "OCIO" {
			return "", refusef("sets the variable %.64s in the environment %s, which an order cannot do", name, e.Name)
		}
	}
	if config, ok := e.Variables["OCIO"]; ok {
		return v.fill(string(config))
	}
	return ocio, nil
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
	if err := s.Rest.check("step " + s.Name); err != nil {
		return nil, err
	}
	order, err := v.renders(s)
	if err != nil {
		return nil, err
	}
	for _, e := range s.Environments {
		if order.OCIO, err = v.variables(e, order.OCIO); err != nil {
			return nil, err
		}
	}
	if c := strings.Join(strings.Fields(s.Space.Combination), ""); strings.ContainsAny(c, "()") {
		return nil, refusef("combines the parameters of step %s as %.80s", s.Name, s.Space.Combination)
	}
	frames, cameras, err := v.space(s)
	if err != nil {
		return nil, err
	}
	switch {
	case cameras == nil:
	case order.Settings.Camera != "":
		return nil, refusef("renders the camera %s in each task of step %s, whatever the task's Camera is", order.Settings.Camera, s.Name)
	default:
		if order.Settings.Camera, err = one(cameras, camera); err != nil {
			return nil, err
		}
	}
	switch {
	case frames != "" && order.Frames != "":
		return nil, refusef("renders the frames %.80s in each task of step %s, whatever the task's parameter is", order.Frames, s.Name)
	case frames != "":
		order.Frames = frames
	case order.Frames == "":
		return nil, refusef("has no frames in step %s", s.Name)
	}
	if order.Frames == all {
		order.Frames = ""
	}
	return order, nil
}

// space reads what varies between the tasks of a step: frames and cameras.
func (v values) space(s *step) (frames string, cameras []string, err error) {
	for _, p := range s.Space.Parameters {
		var filled []string
		for _, text := range p.Range {
			text, err := v.fill(text)
			if err != nil {
				return "", nil, err
			}
			filled = append(filled, text)
		}
		switch {
		case (p.Type == "INT" || p.Type == "CHUNK[INT]") && frames == "":
			frames = strings.Join(filled, ",")
		case p.Type == "STRING" && p.Name == "Camera":
			cameras = filled
		default:
			return "", nil, refusef("varies %s in step %s; an order varies frames only", p.Name, s.Name)
		}
	}
	return frames, cameras, nil
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
	var order *Order
	for _, e := range s.Environments {
		found, err := v.initData(s, e.Script)
		switch enter := e.Script.Actions.Enter; {
		case err != nil:
			return nil, err
		case found != nil:
			order = found
		case enter.Command != "" && !enter.ofAdaptor("start"):
			return nil, refusef("runs %.80q in the environment %s; svc runs nothing of a bundle", enter.Command, e.Name)
		}
	}
	if order == nil {
		var err error
		if order, err = v.initData(s, s.Script); err != nil {
			return nil, err
		}
	}
	run := s.Script.Actions.Run
	if order != nil {
		if !run.ofAdaptor("run") {
			return nil, refusef("runs %.80q in step %s; an order runs the Blender adaptor only", run.Command, s.Name)
		}
		return order, v.runData(s, order)
	}
	lines := strings.Join(append([]string{run.Command}, run.Args...), " ")
	for _, file := range s.Script.Files {
		if strings.Contains(lines, "Task.File."+file.Name) {
			return v.commandLine(s.Name, file.Data)
		}
	}
	return v.commandLine(s.Name, quoted(append([]string{run.Command}, run.Args...)))
}

// initData finds and reads what the adaptor is started with; nil where a script has none.
func (v values) initData(s *step, in script) (*Order, error) {
	for _, file := range in.Files {
		if init := members(nil); yaml.Unmarshal([]byte(references(file.Data)), &init) == nil && init["scene_file"] != "" {
			return v.adaptor(s.Name, init)
		}
	}
	return nil, nil
}

// runData reads what the adaptor is told for each task: its frame and its camera.
func (v values) runData(s *step, o *Order) error {
	for _, file := range s.Script.Files {
		data := members(nil)
		if yaml.Unmarshal([]byte(references(file.Data)), &data) != nil || data["scene_file"] != "" {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(data)) {
			text, err := v.fill(data[name])
			if err != nil {
				return err
			}
			task := strings.Contains(text, "Task.Param.") || strings.Contains(text, "Task.RawParam.")
			switch {
			case name == "frame" && task, name == "camera" && task:
			case name == "frame":
				o.Frames = text
			case name == "camera":
				o.Settings.Camera = text
			default:
				return refusef("sets %.64s in step %s, which an order cannot do", name, s.Name)
			}
		}
	}
	return nil
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

// members are those of a file that the submitter's adaptor reads.
type members map[string]string

// adaptor reads what it is started with. A member that is not known here may change the picture,
// so it is refused.
func (v values) adaptor(name string, data members) (*Order, error) {
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
