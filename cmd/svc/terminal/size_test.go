package terminal

import "testing"

func TestSizeIsANumberWithAUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{"4096": 4096, "512MiB": 512 << 20, "24GiB": 24 << 30, "24 GiB": 24 << 30, "1TiB": 1 << 40} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s is %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "0", "1.5GiB", "24GB", "9999999999TiB"} {
		var got Size
		if got.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}
