package blender_test

import (
	"os/exec"
	"strings"
	"testing"
)

// judged is every property of Blender's data that could hold code, in Blender 3.4 to 4.3,
// with what keeps the code from running.
var judged = map[string]string{
	"Addon.module":                                  "preferences: factory settings",
	"BlendData.texts":                               "a list of texts; none runs by being there",
	"Driver.expression":                             "scripts are disabled; only a few harmless operations are computed",
	"Driver.is_simple_expression":                   "read-only",
	"FileSelectParams.use_filter_script":            "the file browser",
	"FluidDomainSettings.export_manta_script":       "writes a script, in the sandbox, and runs none",
	"FreestyleModuleSettings.script":                "the driver removes style modules, and the audit hook refuses them",
	"Function.is_registered":                        "describes Blender itself",
	"Function.is_registered_optional":               "describes Blender itself",
	"NodeFrame.text":                                "a note",
	"PreferencesFilePaths.script_directory":         "preferences: factory settings",
	"PreferencesFilePaths.use_scripts_auto_execute": "preferences: --disable-autoexec wins",
	"PreferencesSystem.register_all_users":          "preferences: factory settings",
	"PreferencesView.show_tooltips_python":          "the interface",
	"Property.is_registered":                        "describes Blender itself",
	"Property.is_registered_optional":               "describes Blender itself",
	"PythonConstraint.has_script_error":             "read-only",
	"PythonConstraint.text":                         "scripts are disabled; Blender makes none of these any more",
	"ShaderNodeScript.bytecode":                     "Open Shading Language, inside the sandbox; no Python",
	"ShaderNodeScript.bytecode_hash":                "compared only",
	"ShaderNodeScript.script":                       "Open Shading Language, inside the sandbox; no Python",
	"ShaderNodeTexIES.ies":                          "a table of numbers",
	"SpaceTextEditor.text":                          "the interface",
	"Text.current_line":                             "content of a text",
	"Text.lines":                                    "content of a text",
	"Text.select_end_line":                          "content of a text",
	"Text.use_module":                               "scripts are disabled",
	"UserExtensionRepo.module":                      "preferences: factory settings",
	"UserExtensionRepo.use_sync_on_startup":         "preferences: factory settings",
}

// TestEveryPropertyThatCanHoldCodeIsJudged fails for a property that a newer Blender has:
// find out whether it runs what it holds, close that, and add it to the list.
func TestEveryPropertyThatCanHoldCodeIsJudged(t *testing.T) {
	t.Parallel()
	said, err := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", "testdata/rna.py").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	found := 0
	for line := range strings.Lines(string(said)) {
		property, is := strings.CutPrefix(strings.TrimSpace(line), "rna: ")
		if !is {
			continue
		}
		found++
		if judged[property] == "" {
			t.Errorf("%s could hold code and is not judged", property)
		}
	}
	if found < 20 {
		t.Errorf("only %d properties were found:\n%s", found, said)
	}
}
