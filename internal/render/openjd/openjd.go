// Package openjd reads job bundles of Open Job Description that render a .blend: the template
// that the Blender submitter of AWS Deadline Cloud writes, and templates that run Blender's
// command line.
//
// What always holds: nothing of a bundle is run. What an order cannot do is refused by its name
// in the bundle, and never left out in silence; only what has no influence on a picture, such as
// retries and timeouts, is passed over.
//
// A bundle is a folder with template.yaml and, mostly, parameter_values.yaml (or .json). Start
// reading at Read; step.go says which steps are understood, commands.go which command lines of Blender.
package openjd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"svc.example/internal/render/settings"
)

// version is the only revision of the specification so far.
const version = "jobtemplate-2023-09"

// maxBytes bounds a file of a bundle; the specification's own bound of templates is less.
const maxBytes = 4 << 20

// Order is what a bundle orders.
type Order struct {
	Scene    string // path of the .blend
	Frames   string // in the grammar of package framelist
	Settings settings.Settings
	Out      string // folder for the frames; "" where the bundle names none
	Name     string // pattern of the frames' names, such as output_####; "" for none
	OCIO     string // path of the OpenColorIO configuration; "" where the bundle names none
	Format   string // Blender's name of a still format; "" for the scene's own
	Engine   string // Blender's name: CYCLES, BLENDER_EEVEE or BLENDER_WORKBENCH; "" for the scene's own
}

// Choice selects one rendering of a bundle that has several. Empty members select nothing.
type Choice struct{ ViewLayer, Camera string }

// Error is something in a bundle that cannot be ordered, or that is missing.
type Error struct{ text string }

func (e *Error) Error() string { return "this Open Job Description bundle " + e.text }

func refusef(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// template is a job template. Members that are in rest are refused.
type template struct {
	Version      string        `yaml:"specificationVersion"`
	Schema       any           `yaml:"$schema"`
	Name         any           `yaml:"name"`
	Description  any           `yaml:"description"`
	Extensions   []string      `yaml:"extensions"`
	Parameters   []definition  `yaml:"parameterDefinitions"`
	Environments []environment `yaml:"jobEnvironments"`
	Steps        []step        `yaml:"steps"`
	Rest         rest          `yaml:",inline"`
}

// rest has the members that nothing here reads.
type rest map[string]any

// check refuses the first of them by its name.
func (r rest) check(where string) error {
	if len(r) == 0 {
		return nil
	}
	return refusef("has %.64q in %s, which an order cannot do", slices.Sorted(maps.Keys(r))[0], where)
}

// check refuses what changes how the rest is read.
func (t *template) check() error {
	if t.Version != version {
		return refusef("has the specification version %.40q; svc reads %s", t.Version, version)
	}
	for _, extension := range t.Extensions {
		if extension != "TASK_CHUNKING" {
			return refusef("uses the extension %.64s; svc reads TASK_CHUNKING only", extension)
		}
	}
	return t.Rest.check("its template")
}

type definition struct {
	Name    string `yaml:"name"`
	Type    string `yaml:"type"`
	Default *value `yaml:"default"`
}

// value is a text or a number, as it is written.
type value string

// UnmarshalYAML refuses lists and maps.
func (v *value) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a text or a number is needed", node.Line)
	}
	*v = value(node.Value)
	return nil
}

// Read returns what the bundle in the folder orders. Its errors are of type *Error or those of
// the file system.
func Read(folder string, choice Choice) (*Order, error) {
	var t template
	err := load(folder, "template", &t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refusef("has no template.yaml or template.json")
	}
	if err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	given, err := parameters(folder, t.Parameters)
	if err != nil {
		return nil, err
	}
	ocio, err := given.ofJob(t.Environments)
	if err != nil {
		return nil, err
	}
	order, err := given.choose(t.Steps, choice)
	if err != nil {
		return nil, err
	}
	order.OCIO = cmp.Or(order.OCIO, ocio)
	return order, order.place(folder)
}

// place completes paths: those of the bundle count from its folder, and Blender's // is the folder
// of the .blend. A folder that exists only while a task runs is none for the frames.
func (o *Order) place(folder string) error {
	if o.Scene == "" {
		return refusef("names no .blend")
	}
	for _, text := range []string{o.Scene, o.OCIO, o.Settings.Scene, o.Settings.ViewLayer, o.Settings.Camera, o.Format, o.Engine} {
		if found := reference.FindString(text); found != "" {
			return refusef("uses %s in %.80q, which has a value only while a task runs", found, text)
		}
	}
	if reference.MatchString(o.Out) {
		o.Out = ""
	}
	o.Scene = under(folder, o.Scene)
	if below, ok := strings.CutPrefix(o.Out, "//"); ok {
		o.Out = filepath.Join(filepath.Dir(o.Scene), below)
	}
	o.Out, o.OCIO = under(folder, o.Out), under(folder, o.OCIO)
	return nil
}

// under is a path in a folder; an absolute one and "" stay.
func under(folder, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// load reads NAME.yaml, .yml or .json of the folder. YAML includes JSON.
func load(folder, name string, to any) error {
	for _, extension := range []string{".yaml", ".yml", ".json"} {
		file, err := os.Open(filepath.Join(folder, name+extension))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("open the bundle: %w", err)
		}
		text, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
		_ = file.Close() // it was only read
		switch {
		case err != nil:
			return fmt.Errorf("read the bundle: %w", err)
		case len(text) > maxBytes:
			return refusef("has a %s of more than 4 MiB", name+extension)
		}
		if err := yaml.Unmarshal(text, to); err != nil {
			return refusef("has a %s that cannot be read: %s", name+extension, strings.TrimPrefix(err.Error(), "yaml: "))
		}
		return nil
	}
	return fs.ErrNotExist
}

// values are the parameters of a job by name.
type values map[string]string

// parameters joins what the template defines with what the bundle gives.
func parameters(folder string, defined []definition) (values, error) {
	var given struct {
		Values []struct {
			Name  string `yaml:"name"`
			Value value  `yaml:"value"`
		} `yaml:"parameterValues"`
	}
	if err := load(folder, "parameter_values", &given); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := values{}
	for _, d := range defined {
		if d.Default != nil {
			all[d.Name] = string(*d.Default)
		}
	}
	for _, v := range given.Values {
		switch {
		case strings.HasPrefix(v.Name, "deadline:"): // priority, retries and the like
		case slices.Contains(ofQueue, v.Name) && !defines(defined, v.Name):
		case !defines(defined, v.Name):
			return nil, refusef("gives a value to %.64q, which its template does not define", v.Name)
		default:
			all[v.Name] = string(v.Value)
		}
	}
	return all, nil
}

// ofQueue are parameters that the environments of a Deadline Cloud queue define, and no template:
// they choose the packages that its machines install.
var ofQueue = []string{"CondaPackages", "CondaChannels", "RezPackages", "RezRepositories"}

func defines(all []definition, name string) bool {
	return slices.ContainsFunc(all, func(d definition) bool { return d.Name == name })
}

var reference = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// fill puts the values of parameters into a text. References to tasks, sessions and files stay.
func (v values) fill(text string) (string, error) {
	var first error
	filled := reference.ReplaceAllStringFunc(text, func(found string) string {
		name := reference.FindStringSubmatch(found)[1]
		if knownScope(name) {
			return found
		}
		value, err := v.value(name)
		if first == nil {
			first = err
		}
		return value
	})
	return filled, first
}

// value is that of the parameter in a reference such as Param.Frames.
func (v values) value(name string) (string, error) {
	parameter, ok := strings.CutPrefix(strings.TrimPrefix(name, "Raw"), "Param.")
	if !ok {
		return "", refusef("uses the expression %.80q; svc understands references to parameters only", name)
	}
	value, ok := v[parameter]
	if !ok {
		return "", refusef("has no value for the parameter %s. Add it to parameter_values.yaml", parameter)
	}
	return value, nil
}

// knownScope reports whether a reference is to what exists only while a task runs.
func knownScope(name string) bool {
	for _, scope := range []string{"Task.Param.", "Task.RawParam.", "Task.File.", "Env.File.", "Session."} {
		if rest, ok := strings.CutPrefix(name, scope); ok {
			return !strings.ContainsAny(rest, " +*/(|")
		}
	}
	return false
}
