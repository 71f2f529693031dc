package colour_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/colour"
)

func small(views ...string) colour.Offer {
	return colour.Offer{Displays: []colour.Display{{Name: "sRGB", Views: views}}, Looks: []string{}, Spaces: []string{}}
}

func TestAnOfferReadsBack(t *testing.T) {
	t.Parallel()
	for _, version := range []int{304, 401} {
		if of := colour.Of(version); !reflect.DeepEqual(colour.Read(of.Text()), of) || !of.Known() {
			t.Errorf("%d does not read back: %+v", version, of)
		}
	}
	if colour.Of(502).Known() || colour.Read("").Known() {
		t.Error("something is known of nothing")
	}
}

func TestAnOfferThatNoBlenderHasSaysNothing(t *testing.T) {
	t.Parallel()
	many := small("Standard")
	for i := range 2000 {
		many.Spaces = append(many.Spaces, fmt.Sprintf("space %d", i))
	}
	for name, o := range map[string]colour.Offer{
		"no display":     {Looks: []string{"x"}},
		"no view":        small(),
		"an empty name":  small(""),
		"a long name":    small(strings.Repeat("x", 64)),
		"a line feed":    small("a\nb"),
		"no UTF-8":       small("a\xff"),
		"too many bytes": many,
	} {
		if o.Text() != "" {
			t.Errorf("%s: %q", name, o.Text()[:60])
		}
	}
	if small("Standard").Text() == "" {
		t.Error("a sound one says nothing")
	}
}

func TestAColourSpaceIsFoundUnderItsOldName(t *testing.T) {
	t.Parallel()
	if o := colour.Of(401); !o.HasSpace("Linear ACES") || o.HasSpace("Alien") || colour.Of(304).HasSpace("ACEScg") {
		t.Error("names of colour spaces are mistaken")
	}
}

func TestLooksOf401BelongToAView(t *testing.T) {
	t.Parallel()
	o := colour.Of(401)
	for look, want := range map[string]bool{"AgX - Base Contrast": true, "False Color - Punchy": true, "Medium Contrast": true, "AgX - Medium Contrast": false} {
		if o.HasLook(look) != want {
			t.Errorf("%q: %v", look, !want)
		}
	}
	if d, ok := o.Display("Rec.1886"); !ok || slices.Contains(d.Views, "Filmic") {
		t.Errorf("Rec.1886 has %q", d.Views)
	}
}
