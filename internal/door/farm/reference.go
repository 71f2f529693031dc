package farm

import (
	"context"
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/seam"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
)

// rowsOf is the seam of a worker's reference rows; "" where it sends none.
func rowsOf(req farmapi.RegisterRequest) string {
	if !seam.Is(req.Rows) {
		return ""
	}
	return req.Rows
}

// reference tells a machine the reference rows of its kind, before it registers as a worker.
func (s *Server) reference(_ http.ResponseWriter, r *http.Request, _ identity.NodeKey) (any, error) {
	var req farmapi.ReferenceRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	found, err := s.referenceOf(r.Context(), dispatch.Worker{
		Renderer: contract.RendererID, BlenderVersion: clip(req.BlenderVersion), BuildHash: clip(req.BlenderBuildHash), Device: req.Device, DeviceName: clip(req.DeviceName),
	})
	return farmapi.ReferenceReply{OK: true, Rows: found.Rows, Machines: found.Machines}, err
}

func (s *Server) referenceOf(ctx context.Context, worker dispatch.Worker) (found dispatch.Reference, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		found, err = dispatch.ReferenceOf(ctx, tx, worker)
		return err
	})
	return found, err
}

// warnOfRows tells the operator of a worker that has registered with other rows than those of its
// kind.
func (s *Server) warnOfRows(ctx context.Context, worker dispatch.Worker) error {
	if worker.Rows == "" {
		return nil
	}
	found, err := s.referenceOf(ctx, worker)
	if err == nil && !seam.Agree(found.Rows, worker.Rows) && found.Machines > 1 {
		s.Log.Warn("a worker renders other pixels than others with the same device and Blender", "worker_id", worker.WorkerID, "name", worker.Name,
			"device_name", worker.DeviceName, "blender", worker.BlenderVersion, "machines", found.Machines)
	}
	return err
}
