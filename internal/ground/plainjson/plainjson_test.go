package plainjson_test

import (
	"testing"

	"svc.example/internal/ground/plainjson"
)

func TestNothingIsEscapedForHTML(t *testing.T) {
	got, err := plainjson.Marshal(map[string]string{"a": `<b> & "c"`})
	if want := `{"a":"<b> & \"c\""}`; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestWhatHasNoFormInJSONIsAnError(t *testing.T) {
	if got, err := plainjson.Marshal(make(chan int)); err == nil {
		t.Errorf("got %q", got)
	}
}
