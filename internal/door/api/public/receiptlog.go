package public

import (
	"errors"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// receiptLog adds the files of the log (C2SP tlog-tiles, decisions 8). They
// bypass huma: their form is defined elsewhere and is not JSON.
func (s *Server) receiptLog(mux *http.ServeMux) {
	mux.Handle("GET /log/checkpoint", s.Errors.Handle(s.checkpoint))
	mux.Handle("GET /log/tile/{tile...}", s.Errors.Handle(s.tile))
}

// checkpoint signs the log's current size and root with the current key. It is
// never older than the log's head: signed at each request, unless the witnesses have
// co-signed that very one.
func (s *Server) checkpoint(w http.ResponseWriter, r *http.Request) error {
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
		if last := s.Witnesses.Latest(); last != nil && last.Checkpoint == head && last.KeyID == key.Public().ID() {
			text = last.Text
			return nil
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

// tile serves <L>/<N>[.p/<W>] and entries/<N>[.p/<W>]. A tile never changes, so
// caches keep it for good. Errors: route_not_found.
func (s *Server) tile(w http.ResponseWriter, r *http.Request) error {
	tile, err := receiptlog.ParseTile(r.PathValue("tile"))
	if err != nil {
		return fault.New(fault.RouteNotFound, "%q is not the name of a tile.", r.PathValue("tile"))
	}
	var data []byte
	err = s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		data, err = receiptlog.Tile(r.Context(), tx, tile)
		return err
	})
	if errors.Is(err, receiptlog.ErrNoTile) {
		return fault.New(fault.RouteNotFound, "The log is too short to have tile %s.", r.PathValue("tile"))
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // a failed write means the caller is gone
	return nil
}
