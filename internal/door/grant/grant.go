// Package grant is the door for programs that get tokens: the endpoints and the metadata of the
// authorization server in package oauth. The pages for people are in package web.
//
// What always holds: answers with tokens are never cached; cookies are ignored here, so pages of
// any origin may call it. Every error of these endpoints has the form of RFC 6749, those of the
// service, such as rate_limited, too (package front). Start reading at Routes.
package grant

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/oauth"
)

// bodyBytes bounds a form.
const bodyBytes = 16 << 10

// server has the handlers.
type server struct {
	oauth  *oauth.Server
	errors *front.Errors
}

// Routes adds the endpoints and the metadata.
func Routes(mux *http.ServeMux, o *oauth.Server, errs *front.Errors) {
	s := &server{o, errs}
	mux.Handle("POST "+links.TokenPath, s.form(func(r *http.Request, form url.Values) (any, error) { return o.Token(r.Context(), form) }))
	mux.Handle("POST "+links.DevicePath, s.form(func(r *http.Request, form url.Values) (any, error) { return o.Begin(r.Context(), form) }))
	mux.Handle("POST "+links.RevokePath, s.form(func(r *http.Request, form url.Values) (any, error) { return struct{}{}, o.Revoke(r.Context(), form) }))
	if o.Clients.Registers() {
		mux.Handle("POST "+links.RegisterPath, s.register())
	}
	s.metadata(mux)
}

// form handles a form of a program.
func (s *server) form(do func(r *http.Request, form url.Values) (any, error)) http.Handler {
	return s.handle(http.StatusOK, func(w http.ResponseWriter, r *http.Request) (any, error) {
		if hasType(r, "application/x-www-form-urlencoded") && r.URL.RawQuery == "" {
			r.Body = http.MaxBytesReader(w, r.Body, bodyBytes)
			if bad := r.ParseForm(); bad == nil && isText(r.PostForm) {
				return do(r, r.PostForm)
			}
		}
		return nil, &oauth.Error{Code: oauth.InvalidRequest, Description: "the body must be a form (application/x-www-form-urlencoded) of at most 16 KiB"}
	})
}

// register handles the description of a program that registers automatically (RFC
// 7591).
func (s *server) register() http.Handler {
	return s.handle(http.StatusCreated, func(w http.ResponseWriter, r *http.Request) (any, error) {
		if hasType(r, "application/json") {
			if text, bad := io.ReadAll(http.MaxBytesReader(w, r.Body, oauth.MaxDescription)); bad == nil {
				return s.oauth.Clients.Register(text, time.Now())
			}
		}
		return nil, &oauth.Error{Code: oauth.InvalidMetadata, Description: "the body must be JSON (application/json) of at most 5 KiB"}
	})
}

// hasType reports whether the body of a request is of a media type.
func hasType(r *http.Request, want string) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == want
}

// handle answers a program in JSON, with status or with what was wrong.
func (s *server) handle(status int, do func(w http.ResponseWriter, r *http.Request) (any, error)) http.Handler {
	return s.errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		answer, err := do(w, r)
		h := w.Header()
		refused, is := errors.AsType[*oauth.Error](err)
		if err != nil && !is {
			return err
		}
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		if is {
			w.WriteHeader(statusOf(refused))
			answer = map[string]string{"error": refused.Code, "error_description": refused.Description}
		} else {
			w.WriteHeader(status)
		}
		_ = json.NewEncoder(w).Encode(answer) // a failed write means the caller is gone
		return nil
	})
}

// statusOf returns the status of an error (RFC 6749 5.2).
func statusOf(e *oauth.Error) int {
	if e.Code == oauth.InvalidClient {
		return http.StatusUnauthorized
	}
	return http.StatusBadRequest
}

// isText reports whether a form can be looked up and stored.
func isText(form url.Values) bool {
	for _, values := range form {
		for _, value := range values {
			if !front.IsText(value) {
				return false
			}
		}
	}
	return true
}

// metadata adds the public documents (RFC 8414, RFC 9728). None depends on a request.
func (s *server) metadata(mux *http.ServeMux) {
	at := s.oauth.Links
	scopes := identity.AllScopes()
	issuer := map[string]any{
		"issuer": s.oauth.Issuer(), "authorization_endpoint": at.To(links.AuthorizePath), "token_endpoint": at.To(links.TokenPath),
		"revocation_endpoint": at.To(links.RevokePath), "device_authorization_endpoint": at.To(links.DevicePath),
		"scopes_supported": append(strings.Fields(scopes.String()), oauth.OfflineAccess), "response_types_supported": []string{"code"}, "response_modes_supported": []string{"query"},
		"grant_types_supported": oauth.GrantTypes(), "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": oauth.AuthMethods(), "token_endpoint_auth_signing_alg_values_supported": oauth.SigningAlgorithms(), "revocation_endpoint_auth_methods_supported": []string{"none"},
		"client_id_metadata_document_supported": true, "authorization_response_iss_parameter_supported": true,
		"service_documentation": at.To("/guide/oauth"),
	}
	if s.oauth.Clients.Registers() {
		issuer["registration_endpoint"] = at.To(links.RegisterPath)
	}
	documents := map[string]any{links.IssuerPath: issuer}
	for path, resource := range map[string]string{links.ResourcePath: at.PublicURL, links.ResourcePath + links.AgentPath: at.To(links.AgentPath)} {
		documents[path] = map[string]any{
			"resource": resource, "authorization_servers": []string{s.oauth.Issuer()}, "scopes_supported": scopes,
			"bearer_methods_supported": []string{"header"}, "resource_name": "svc", "resource_documentation": at.To("/guide/oauth"),
		}
	}
	for path, document := range documents {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "public, max-age=3600")
			_ = json.NewEncoder(w).Encode(document) // a failed write means the reader is gone
		})
	}
}
