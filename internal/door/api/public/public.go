// Package public is the public part of the HTTP API: health, what the service
// renders and at what price, signing keys, the receipt log, the leaderboard,
// and downloads by signed link.
//
// What always holds: no route here asks for a credential or changes anything.
//
// Package leaderboard ranks results, package receiptlog keeps the log. Start
// reading at Server.Routes.
package public

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/front"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/job"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/receipt/witness"
)

// Server serves the public routes. It is safe for concurrent use.
type Server struct {
	DB        *db.DB
	Jobs      *job.Jobs
	Artifacts *artifact.Artifacts
	Board     *leaderboard.Board
	// Witnesses have checkpoints co-signed; nil without any.
	Witnesses *witness.Asker
	Blobs     blob.Store
	Links     links.Links
	// Rate is the policy that /limits shows; the zero Policy shows 0, which is no
	// limit.
	Rate ratelimit.Policy
	// Unstarted is the bound on unstarted uploads that /limits shows, in bytes; 0
	// shows the contract's.
	Unstarted int64
	// ProjectSize is what /limits says a project may have, in bytes; 0 shows the
	// contract's.
	ProjectSize int64
	// FrameTime is what /limits says a frame may take; 0 shows the contract's.
	FrameTime time.Duration
	// Previews are the limits of free previews that /limits shows.
	Previews preview.Limits
	Errors   *front.Errors
}

// Routes registers the routes: those of the receipt log's files on mux, all
// others on api.
func (s *Server) Routes(mux *http.ServeMux, api huma.API) {
	s.discovery(api)
	s.capabilities(api)
	s.leaderboard(api)
	s.download(api)
	s.receiptLog(mux)
}
