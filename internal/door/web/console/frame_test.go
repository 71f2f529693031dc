package console

import "testing"

// What a worker delivers is opened by no browser unless it is a picture.
func TestAFrameThatIsNoPictureIsSavedAndNeverShown(t *testing.T) {
	t.Parallel()
	const saved = "application/octet-stream attachment"
	for _, c := range []struct{ name, head, want string }{
		{"frame_0001.png", "\x89PNG\r\n\x1a\n....", "image/png inline"}, {"frame_0001.jpg", "\xff\xd8\xff\xe0....", "image/jpeg inline"},
		{"frame_0001.webp", "RIFF....WEBP", "image/webp inline"}, {"frame_0001.exr", "\x76\x2f\x31\x01....", saved}, {"frame_0001.png", "<html><script>", saved},
		{"frame_0001.png", "<?xml version='1.0'?><svg", saved}, {"frame_0001.html", "\x89PNG\r\n\x1a\n....", saved}, {"frame_0001.png", "", saved}, {".png", "\x89PNG\r\n\x1a\n....", saved},
	} {
		kind, how := shownAs([]byte(c.head), c.name)
		if got := kind + " " + how; got != c.want {
			t.Errorf("%s that begins %q: %s, want %s", c.name, c.head, got, c.want)
		}
	}
}
