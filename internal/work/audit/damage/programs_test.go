package damage_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/work/oauth"
)

// letIn has a program sign in and refresh its tokens, and a device wait.
func (s *store) letIn(workspaceID string) {
	s.Helper()
	ctx := s.Context()
	server := &oauth.Server{DB: s.app.DB, Links: links.Links{PublicURL: "https://render.example"}, Clients: oauth.NewClients(outbound.New(outbound.Config{}), nil)}
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	redirect := "http://127.0.0.1:1/"
	client := url.Values{"client_id": {oauth.CommandLine}}
	for range 2 {
		question, err := server.Read(ctx, url.Values{
			"client_id": {oauth.CommandLine}, "redirect_uri": {redirect}, "response_type": {"code"}, "code_challenge_method": {"S256"},
			"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
		})
		if err != nil {
			s.Fatal(err)
		}
		to, err := server.Allow(ctx, question, oauth.Terms{WorkspaceID: workspaceID, SpendLimitCents: 100, Days: 30})
		if err != nil {
			s.Fatal(err)
		}
		answer, err := url.Parse(to)
		if err != nil {
			s.Fatal(err)
		}
		tokens, err := server.Token(ctx, url.Values{
			"grant_type": {"authorization_code"}, "client_id": client["client_id"], "code": {answer.Query().Get("code")}, "redirect_uri": {redirect}, "code_verifier": {verifier},
		})
		if err != nil {
			s.Fatal(err)
		}
		if _, err := server.Token(ctx, url.Values{"grant_type": {"refresh_token"}, "client_id": client["client_id"], "refresh_token": {tokens.RefreshToken}}); err != nil {
			s.Fatal(err)
		}
		if _, err := server.Begin(ctx, client); err != nil {
			s.Fatal(err)
		}
	}
}
