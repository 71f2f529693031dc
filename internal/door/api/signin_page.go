package api

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// page is what a person sees while signing in.
type page struct {
	Title string
	Text  string
	Token string // of a link, to be sent by the button; "" for no button
	Next  string // the page to go on to; "" for none
}

// pageTemplate needs neither script nor style. A token reaches the service by
// the button's POST only: mail scanners follow links, and would use it up.
var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{{.Title}} - svc</title>
<h1>{{.Title}}</h1>
{{with .Text}}<p>{{.}}</p>
{{end}}{{with .Next}}<p><a href="{{.}}">Your webhooks</a></p>
{{end}}{{with .Token}}<form method="post">
<input type="hidden" name="token" value="{{.}}">
<button autofocus>Sign in</button>
</form>
{{end}}</html>
`))

// pagePolicy lets a page do nothing but send its form home.
const pagePolicy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// shown answers with a page.
func shown(status int, p page, cookies ...http.Cookie) (*huma.StreamResponse, error) {
	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, p); err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "text/html; charset=utf-8")
		ctx.SetHeader("Cache-Control", "no-store")
		ctx.SetHeader("Content-Security-Policy", pagePolicy)
		// The address holds the token; none at all would hide from the form's POST where it comes from.
		ctx.SetHeader("Referrer-Policy", "same-origin")
		for _, c := range cookies {
			ctx.AppendHeader("Set-Cookie", c.String())
		}
		ctx.SetStatus(status)
		_, _ = ctx.BodyWriter().Write(text.Bytes()) // a failed write means the browser is gone
	}}, nil
}

func htmlContent() *huma.MediaType {
	return &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
}

// pageResponse describes a 200 that is a page.
func pageResponse(what string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: what, Content: map[string]*huma.MediaType{"text/html": htmlContent()}}}
}

// signedInResponses describes what ends a sign-in: a page or JSON, whether it
// went well or is one of the statuses refused.
func signedInResponses(api huma.API, refused ...int) map[string]*huma.Response {
	out := map[string]*huma.Response{"200": {Description: "The session is open", Content: map[string]*huma.MediaType{
		"text/html": htmlContent(), "application/json": {Schema: api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[sessionBody](), true, "SessionBody")},
	}}}
	for _, status := range refused { // in JSON it is described with the others
		out[strconv.Itoa(status)] = &huma.Response{Content: map[string]*huma.MediaType{"text/html": htmlContent()}}
	}
	return out
}
