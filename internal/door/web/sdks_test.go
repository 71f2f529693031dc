package web_test

import (
	"net/http"
	"testing"

	"svc.example/internal/ground/links"
	"svc.example/sdk"
)

func TestThePageOfTheSDKsLeadsToEachPackageWhole(t *testing.T) {
	t.Parallel()
	p := &person{t: t, base: worlds.On(t, "sqlite").URL}
	packages, err := sdk.Packages()
	if err != nil || len(packages) < 2 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	index := p.open(links.SDKPath)
	for _, one := range packages {
		index.want(t, http.StatusOK, links.SDKPath+one.Name, one.SHA256)
		got := p.open(links.SDKPath + one.Name)
		if got.status != http.StatusOK || got.text != string(one.Bytes) || got.header.Get("ETag") != `"`+one.SHA256+`"` || got.header.Get("Content-Type") != one.Type {
			t.Errorf("%s: %d, %d bytes, %v", one.Name, got.status, len(got.text), got.header)
		}
	}
	p.open(links.SDKPath+"svc-render-0.0.0.tgz").want(t, http.StatusNotFound)
}
