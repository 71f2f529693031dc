package openjd_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/render/openjd"
	"svc.example/internal/render/settings"
)

// submitted is a bundle of the form that the Blender submitter writes: a step for each view
// layer, and the cameras as a parameter of the tasks.
const submitted = `
specificationVersion: jobtemplate-2023-09
name: shot
parameterDefinitions:
- {name: BlenderFile, type: PATH, objectType: FILE, dataFlow: IN}
- {name: RenderScene, type: STRING, default: Scene}
- {name: RenderEngine, type: STRING, default: cycles}
- {name: Frames, type: STRING, default: 1-1}
- {name: OutputDir, type: PATH}
- {name: OutputFileName, type: STRING, default: output_####}
- {name: OutputFormat, type: STRING, default: PNG}
- {name: ResolutionX, type: INT}
steps:
- &first
  name: Front
  parameterSpace:
    taskParameterDefinitions:
    - {name: Frame, type: INT, range: '{{Param.Frames}}'}
    - {name: Camera, type: STRING, range: &cameras [Near, Far]}
  stepEnvironments:
  - name: Blender
    script:
      embeddedFiles:
      - name: initData
        type: TEXT
        data: |-
          scene_file: {{Param.BlenderFile}}
          render_engine: {{Param.RenderEngine}}
          render_scene: {{Param.RenderScene}}
          view_layer: Front
          output_dir: {{ Param.OutputDir }}
          output_file_name: {{Param.OutputFileName}}
          output_format: {{Param.OutputFormat}}
          image_width: {{Param.ResolutionX}}
          image_height: 480
      actions:
        onEnter: {command: blender-openjd, args: [daemon, start]}
  script:
    actions:
      onRun: {command: blender-openjd, args: [daemon, run, 'file://{{ Task.File.runData }}']}
    embeddedFiles:
    - name: runData
      data: |
        frame: {{Task.Param.Frame}}
        camera: '{{Task.Param.Camera}}'
`

const given = `
parameterValues:
- {name: BlenderFile, value: 'shot''s file.blend'}
- {name: OutputDir, value: /renders}
- {name: Frames, value: '1-10,15,20-100:2'}
- {name: ResolutionX, value: 640}
- {name: 'deadline:priority', value: 50}
`

// plain is a bundle that runs Blender's command line.
const plain = `{"specificationVersion": "jobtemplate-2023-09", "name": "plain",
 "parameterDefinitions": [{"name": "File", "type": "PATH", "default": "my scene.blend"}, {"name": "Frames", "type": "STRING", "default": "3"}],
 "steps": [{"name": "Render",
  "parameterSpace": {"taskParameterDefinitions": [{"name": "Frame", "type": "CHUNK[INT]", "range": "{{Param.Frames}}"}]},
  "script": {"actions": {"onRun": {"command": "bash", "args": ["{{Task.File.Run}}"]}},
   "embeddedFiles": [{"name": "Run", "data": "set -eu\nmkdir -p out\nFRAMES=\"$(python x)\"\n\nblender --background '{{Param.File}}' \\\n  --render-output 'out/f_####' --render-format EXR \\\n  -S {{ Param.Name }} --render-frame \"$FRAMES\"\n"}]}}]}`

// bundle writes a bundle and returns its folder.
func bundle(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestABundleOfTheSubmitterIsAnOrder(t *testing.T) {
	t.Parallel()
	folder := bundle(t, map[string]string{"template.yaml": submitted, "parameter_values.yaml": given})
	got, err := openjd.Read(folder, openjd.Choice{Camera: "Far"})
	if err != nil {
		t.Fatal(err)
	}
	want := openjd.Order{
		Scene: filepath.Join(folder, "shot's file.blend"), Frames: "1-10,15,20-100:2", Out: "/renders", Name: "output_####", Format: "PNG", Engine: "CYCLES",
		Settings: settings.Settings{Scene: "Scene", Camera: "Far", ViewLayer: "Front", ResolutionX: 640, ResolutionY: 480},
	}
	if *got != want {
		t.Errorf("got\n%+v, want\n%+v", *got, want)
	}
}

// The submitter's versions and queues write more than its first form; nothing of it changes the order.
func TestBundlesOfTheSubmitterDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, with, values, frames, file string }{
		"a device":          {old: "view_layer: Front", with: "gpu_device: {{Param.GPU}}\n          view_layer: Front", values: "- {name: GPU, value: OPTIX}\n"},
		"host requirements": {old: "  script:\n    actions:\n      onRun", with: "  hostRequirements:\n    amounts:\n    - {name: amount.worker.gpu, min: 1}\n  script:\n    actions:\n      onRun"},
		"a queue of conda":  {values: "- {name: CondaPackages, value: blender=4.1 blender-openjd}\n- {name: CondaChannels, value: deadline-cloud}\n"},
		"a queue of rez":    {values: "- {name: RezPackages, value: blender}\n"},
		"no description":    {old: "name: shot\n", with: "name: shot\ndescription: null\n"},
		"an end of a file":  {values: "- {name: OutputFileName, value: image_####.png}\n", file: "image_####.png"},
		"chunks of tasks":   {old: "name: shot\n", with: "name: shot\nextensions: [TASK_CHUNKING]\n"},
		"another adaptor":   {old: "command: blender-openjd, args: [daemon, run", with: "command: python3, args: [-m, adaptor, daemon, run"},
		"a list of frames":  {old: "range: '{{Param.Frames}}'", with: "range: [1, 2, '{{Param.Frames}}']", frames: "1,2,1-10,15,20-100:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := strings.Replace(submitted, c.old, c.with, 1)
			if strings.Contains(c.values, "GPU") {
				template = strings.Replace(template, "parameterDefinitions:\n", "parameterDefinitions:\n- {name: GPU, type: STRING, default: NONE}\n", 1)
			}
			folder := bundle(t, map[string]string{"template.yaml": template, "parameter_values.yaml": given + c.values})
			got, err := openjd.Read(folder, openjd.Choice{Camera: "Near"})
			if err != nil || got.Frames != cmp.Or(c.frames, "1-10,15,20-100:2") || got.Name != cmp.Or(c.file, "output_####") || got.Settings.ViewLayer != "Front" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestABundleOfBlendersCommandLineIsAnOrder(t *testing.T) {
	t.Parallel()
	folder := bundle(t, map[string]string{"template.json": strings.Replace(plain, "{{ Param.Name }}", "Main", 1)})
	got, err := openjd.Read(folder, openjd.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	want := openjd.Order{Scene: filepath.Join(folder, "my scene.blend"), Frames: "3", Out: filepath.Join(folder, "out"), Name: "f_####", Format: "OPEN_EXR", Settings: settings.Settings{Scene: "Main"}}
	if *got != want {
		t.Errorf("got\n%+v, want\n%+v", *got, want)
	}
}

// The submitter names the OpenColorIO configuration of the artist's Blender as a variable of the job.
func TestABundleNamesItsColours(t *testing.T) {
	t.Parallel()
	colours := "jobEnvironments:\n- name: Set OCIO Path\n  variables: {OCIO: '{{Param.OCIOConfigPath}}'}\n"
	template := strings.Replace(submitted, "parameterDefinitions:\n", colours+"parameterDefinitions:\n- {name: OCIOConfigPath, type: PATH}\n", 1)
	for path, want := range map[string]string{"/studio/config.ocio": "/studio/config.ocio", "colour/config.ocio": "colour/config.ocio"} {
		folder := bundle(t, map[string]string{"template.yaml": template, "parameter_values.yaml": given + "- {name: OCIOConfigPath, value: " + path + "}\n"})
		if !filepath.IsAbs(want) {
			want = filepath.Join(folder, want)
		}
		got, err := openjd.Read(folder, openjd.Choice{Camera: "Near"})
		if err != nil || got.OCIO != want {
			t.Errorf("got %+v, %v, want %s", got, err, want)
		}
	}
}

// Where the tasks have no parameter, Blender's arguments say which frames it renders. Its // is the
// folder of the scene.
func TestArgumentsOfBlenderAreFramesAndFolders(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]openjd.Order{
		"-f 7":                                   {Frames: "7"},
		"-f 1,3..5":                              {Frames: "1,3..5"},
		"-s 2 -e 9 -a":                           {Frames: "2-9"},
		"-s 2 -e 9 -j 3 -a":                      {Frames: "2-9x3"},
		"-a":                                     {},
		"-o //out/f_#### -a":                     {Out: "shots/out", Name: "f_####"},
		"-o //f_ -a":                             {Out: "shots", Name: "f_"},
		"-o {{Session.WorkingDirectory}}/f -a":   {Name: "f"},
		"-E CYCLES -a -- --cycles-device OPTIX":  {Engine: "CYCLES"},
		"-S Main -t 4 -x 1 --render-anim -F JP2": {Settings: settings.Settings{Scene: "Main"}, Format: "JPEG2000"},
	} {
		folder := bundle(t, map[string]string{"template.yaml": "specificationVersion: jobtemplate-2023-09\nname: n\nsteps:\n- name: s\n  script: {actions: {onRun: {command: blender, args: [-b, 'shots/a $1.blend', '" + strings.ReplaceAll(arguments, " ", "', '") + "']}}}\n"})
		got, err := openjd.Read(folder, openjd.Choice{})
		if err == nil || !strings.Contains(err.Error(), "a $1.blend") {
			t.Errorf("%s: a value of no shell is read: %+v, %v", arguments, got, err)
		}
		folder = bundle(t, map[string]string{"template.yaml": "specificationVersion: jobtemplate-2023-09\nname: n\nparameterDefinitions: [{name: F, type: PATH, default: shots/a $1.blend}]\nsteps:\n- name: s\n  script: {actions: {onRun: {command: blender, args: [-b, '{{Param.F}}', '" + strings.ReplaceAll(arguments, " ", "', '") + "']}}}\n"})
		want.Scene = filepath.Join(folder, "shots", "a $1.blend")
		if want.Out != "" {
			want.Out = filepath.Join(folder, want.Out)
		}
		if got, err = openjd.Read(folder, openjd.Choice{}); err != nil || *got != want {
			t.Errorf("%s: got\n%+v, %v, want\n%+v", arguments, got, err, want)
		}
	}
}

func TestWhatAnOrderCannotDoIsRefusedByName(t *testing.T) {
	t.Parallel()
	two := strings.Replace(submitted, "- &first\n", "- name: Back\n  parameterSpace: {taskParameterDefinitions: [{name: Frame, type: INT, range: '1'}]}\n  stepEnvironments:\n  - script: {embeddedFiles: [{name: i, data: \"scene_file: a.blend\\nview_layer: Back\"}]}\n  script: {actions: {onRun: {command: blender-openjd, args: [daemon, run]}}}\n- &first\n", 1)
	for name, c := range map[string]struct {
		template, old, with, values, want string
		choice                            openjd.Choice
	}{
		"no template":        {want: "no template.yaml"},
		"another revision":   {template: submitted, old: "2023-09", with: "2031-01", want: "jobtemplate-2031-01"},
		"two cameras":        {template: submitted, want: "--camera: Near, Far"},
		"another camera":     {template: submitted, choice: openjd.Choice{Camera: "Top"}, want: "does not render the camera Top"},
		"two layers":         {template: two, choice: openjd.Choice{Camera: "Near"}, want: "--view-layer: Back, Front"},
		"another layer":      {template: two, choice: openjd.Choice{Camera: "Near", ViewLayer: "Side"}, want: "does not render the view layer Side"},
		"an unknown member":  {template: submitted, old: "view_layer: Front", with: "denoise: on", want: "sets denoise"},
		"another parameter":  {template: submitted, old: "name: Camera, type", with: "name: Seed, type", want: "varies Seed"},
		"a combination":      {template: submitted, old: "  parameterSpace:\n", with: "  parameterSpace:\n    combination: (Frame, Camera)\n", want: "combines"},
		"no value":           {template: submitted, values: "parameterValues: []", choice: openjd.Choice{Camera: "Near"}, want: "no value for the parameter"},
		"an unknown value":   {template: submitted, values: "parameterValues: [{name: Sample, value: 3}]", want: "does not define"},
		"an expression":      {template: submitted, old: "{{Param.OutputFileName}}", with: "{{Param.OutputDir / 3}}", want: "no value for the parameter OutputDir / 3"},
		"another program":    {template: plain, old: "mkdir -p out", with: "convert a b", want: `runs "convert"`},
		"Python":             {template: plain, old: "-S {{ Param.Name }}", with: "--python x.py", want: `runs Blender with "--python"`},
		"Blender twice":      {template: plain, old: "-S {{ Param.Name }}", with: `\nblender -b x.blend -f 3`, want: "several times"},
		"no Blender":         {template: plain, old: "blender --background", with: "echo", want: "does not run Blender"},
		"broken YAML":        {template: "steps: [", want: "cannot be read"},
		"a parameter unset":  {template: plain, want: "parameter Name"},
		"another extension":  {template: submitted, old: "name: shot\n", with: "name: shot\nextensions: [EXPR]\n", want: "extension EXPR"},
		"another member":     {template: submitted, old: "name: shot\n", with: "name: shot\njobServices: []\n", want: `"jobServices" in its template`},
		"a simple action":    {template: submitted, old: "  script:\n    actions:", with: "  bash: {script: rm}\n  script:\n    actions:", want: `"bash" in step Front`},
		"a job's script":     {template: submitted, old: "steps:\n", with: "jobEnvironments:\n- {name: Wheels, script: {actions: {onEnter: {command: pip}}}}\nsteps:\n", want: `runs "pip" in the environment Wheels`},
		"a job's variable":   {template: submitted, old: "steps:\n", with: "jobEnvironments:\n- {name: Fast, variables: {BLENDER_USER_SCRIPTS: /x}}\nsteps:\n", want: "sets the variable BLENDER_USER_SCRIPTS in the environment Fast"},
		"a step's script":    {template: submitted, old: "  - name: Blender\n", with: "  - {name: Mount, script: {actions: {onEnter: {command: mount}}}}\n  - name: Blender\n", want: `runs "mount" in the environment Mount`},
		"a step's variable":  {template: submitted, old: "  - name: Blender\n", with: "  - {name: V, variables: {CYCLES_DEBUG: 1}}\n  - name: Blender\n", want: "variable CYCLES_DEBUG"},
		"no adaptor":         {template: submitted, old: "command: blender-openjd, args: [daemon, run", with: "command: convert, args: [a, b", want: `runs "convert" in step Front`},
		"a task's data":      {template: submitted, old: "frame: {{Task.Param.Frame}}", with: "samples: 3\n        frame: {{Task.Param.Frame}}", want: "sets samples in step Front"},
		"one frame for all":  {template: submitted, old: "frame: {{Task.Param.Frame}}", with: "frame: 7", choice: openjd.Choice{Camera: "Near"}, want: "renders the frames 7 in each task"},
		"one camera for all": {template: submitted, old: "'{{Task.Param.Camera}}'", with: "Top", want: "renders the camera Top in each task"},
		"a task's scene":     {template: submitted, old: "{{Param.RenderScene}}", with: "{{Task.Param.Frame}}", choice: openjd.Choice{Camera: "Near"}, want: "only while a task runs"},
		"a number for all":   {template: plain, old: "-S {{ Param.Name }} --render-frame \\\"$FRAMES\\\"", with: "-f 7", want: "renders the frames 7 in each task"},
		"a relative frame":   {template: plain, old: "-S {{ Param.Name }} --render-frame \\\"$FRAMES\\\"", with: "-f +1", want: "counts from the scene's"},
		"all and one":        {template: plain, old: "-S {{ Param.Name }} --render-frame \\\"$FRAMES\\\"", with: "-f 1 -a", want: "-f and -a"},
		"all from one on":    {template: plain, old: "-S {{ Param.Name }} --render-frame \\\"$FRAMES\\\"", with: "-s 1 -a", want: "without both -s and -e"},
		"a shell's value":    {template: plain, old: "-S {{ Param.Name }}", with: "-S $NAME", want: `with "$NAME"`},
		"a hidden command":   {template: plain, old: "mkdir -p out", with: "echo a && convert b c", want: "runs Blender only"},
		"a variable for one": {template: plain, old: "blender --background", with: "OCIO=/x blender --background", want: `runs "OCIO=/x"`},
		"an option's value":  {template: plain, old: "-S {{ Param.Name }} --render-frame \\\"$FRAMES\\\"", with: "-S", want: "-S and no value"},
		"a step without any": {template: "specificationVersion: jobtemplate-2023-09\nsteps: []", values: "parameterValues: []", want: "has no step"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"parameter_values.yaml": given}
			if c.old != "" && !strings.Contains(c.template, c.old) {
				t.Fatalf("the template has no %q", c.old)
			}
			if text := strings.Replace(c.template, c.old, c.with, 1); text != "" {
				files["template.yaml"] = text
			}
			if c.template == plain {
				delete(files, "parameter_values.yaml")
			}
			if c.values != "" {
				files["parameter_values.yaml"] = c.values
			}
			_, err := openjd.Read(bundle(t, files), c.choice)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}
