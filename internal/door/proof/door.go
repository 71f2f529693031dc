// Package proof is the door for those who check us: the log of receipts under
// /log/, and a page for each receipt. It asks for no credential.
//
// What always holds: the log is served in the C2SP forms, so that tools of
// others read it; tiles never change, and say so to caches; a page shows the
// receipt and nothing else of its workspace, runs no code but its own, loads
// nothing, and answers 404 where the workspace does not show its proofs.
//
// Deciding is left to the rooms. Start reading at Routes; page.go is the page.
package proof

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/render"
)

// Rooms are what the door leads to.
type Rooms struct {
	DB   *db.DB
	Jobs *render.Jobs
	Log  *slog.Logger
}

// Paths of the log (C2SP tlog-tiles). The tile's coordinates follow TilePath.
const (
	CheckpointPath = "/log/checkpoint"
	TilePath       = "/log/tile/"
)

// Routes adds the door's routes to mux.
func Routes(mux *http.ServeMux, rooms Rooms) {
	mux.Handle("GET "+CheckpointPath, answer{rooms, rooms.checkpoint})
	mux.Handle("GET "+TilePath+"{tile...}", answer{rooms, rooms.tile})
	mux.Handle("GET /proof/{receipt_id}", answer{rooms, rooms.page})
}

// answer gives the errors of a handler their wire form, and logs those that
// callers are not told. Whatever is served here may be read by any page.
type answer struct {
	rooms  Rooms
	handle func(http.ResponseWriter, *http.Request) error
}

func (a answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	err := a.handle(w, r)
	if err == nil {
		return
	}
	if fault.Of(err) == fault.Internal && !errors.Is(err, context.Canceled) {
		a.rooms.Log.Error("request failed", "request_id", w.Header().Get(fault.RequestIDHeader), "error", err)
	}
	fault.Respond(w, err)
}

func (s Rooms) checkpoint(w http.ResponseWriter, r *http.Request) error {
	var text []byte
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
		head, err := receiptlog.Head(r.Context(), tx)
		if err != nil {
			return err
		}
		key, err := s.Jobs.Keys.Current(r.Context(), tx)
		if err != nil {
			return err
		}
		text, err = receipt.SignCheckpoint(head, key)
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(text) // a failed write means the caller is gone
	return nil
}

// tile serves <L>/<N>[.p/<W>] and entries/<N>[.p/<W>].
func (s Rooms) tile(w http.ResponseWriter, r *http.Request) error {
	tile, err := receiptlog.ParseTile(r.PathValue("tile"))
	if err != nil {
		return fault.New(fault.RouteNotFound, "%q names no tile.", r.PathValue("tile"))
	}
	var data []byte
	err = s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		data, err = receiptlog.Tile(r.Context(), tx, tile)
		return err
	})
	if errors.Is(err, receiptlog.ErrNoTile) {
		return fault.New(fault.RouteNotFound, "The log is not long enough to have tile %s.", r.PathValue("tile"))
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // a failed write means the caller is gone
	return nil
}
