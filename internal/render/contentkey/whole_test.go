package contentkey

import "testing"

// Other properties of a scene could reach the pictures of frames before and after.
func TestCurvesOfSettingsOfThePictureLeaveFramesApart(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"view_settings.exposure": true, "cycles.film_exposure": true, "cycles.filter_width": true, "cycles.sample_clamp_indirect": true, `["note"]`: true, "use_audio": true,
		"cycles.motion_blur_position": false, "cycles.rolling_shutter_duration": false, "cycles.time_limit": false, "cycles.dicing_rate": false,
		"render.motion_blur_shutter": false, "render.frame_map_new": false, "frame_current": false, `view_layers["A"].use`: false, "cycles.seed.x": false,
	} {
		if got := scenePaths.MatchString(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
