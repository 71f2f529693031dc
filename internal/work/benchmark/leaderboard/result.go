package leaderboard

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt/signing"
)

// Result is one result with everything in its receipt (spec 4.6).
type Result struct {
	Row
	GPUVendor        string               `json:"gpu_vendor"`
	GPUMemoryBytes   *int64               `json:"gpu_memory_bytes"`
	GPUDriver        string               `json:"gpu_driver"`
	CPUName          string               `json:"cpu_name"`
	RAMBytes         *int64               `json:"ram_bytes"`
	OS               string               `json:"os"`
	BlenderVersion   string               `json:"blender_version"`
	BlenderBuildHash string               `json:"blender_build_hash"`
	Scenes           []benchmark.SceneRun `json:"scenes"`
	StartedAt        time.Time            `json:"started_at" doc:"By the worker's clock."`
	CompletedAt      time.Time            `json:"completed_at" doc:"By the worker's clock."`
	Global           Place                `json:"global" doc:"Among all GPUs' results under equal versions."`
	WithinGPU        Place                `json:"within_gpu" doc:"Among the results of the same GPU under equal versions."`
	WorkerKeyID      string               `json:"worker_key_id" doc:"Of the key that signed the worker's receipt."`
	LogIndex         int64                `json:"log_index" doc:"Leaf of the service's record in the log of receipts."`
	Envelope         json.RawMessage      `json:"envelope" doc:"The service's record of the result, signed (DSSE, in-toto)."`
	WorkerEnvelope   json.RawMessage      `json:"worker_envelope" doc:"The worker's receipt, signed (DSSE, in-toto)."`
	Summary
}

// Result reads one result. A result with an invalid signature is an error, and is not
// shown. Error: result_not_found, which says if the result is hidden. A CPU's result
// has no place. Repeated reads may give other places, since every new result can
// change them.
func (b *Board) Result(ctx context.Context, resultID string) (r Result, err error) {
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.BenchmarkResultGet(ctx, resultID)
		if db.IsNotFound(err) {
			if err := hidden(ctx, tx, resultID); err != nil {
				return err
			}
			return fault.New(fault.ResultNotFound, "There is no result %q.", resultID)
		}
		if err != nil {
			return fmt.Errorf("read result: %w", err)
		}
		board, err := tx.BenchmarkGroupGet(ctx, row.BoardID)
		if err != nil {
			return fmt.Errorf("read board: %w", err)
		}
		var receipt benchmark.Receipt
		if r, receipt, err = b.signed(ctx, tx, row, board); err != nil {
			return err
		}
		if row.GroupID == 0 {
			r.Global, r.WithinGPU = Place{Label: NoLabel}, Place{Label: NoLabel}
			r.Summary = summaryOf(receipt, r)
			return nil
		}
		gpu, err := tx.BenchmarkGroupGet(ctx, row.GroupID)
		if err != nil {
			return fmt.Errorf("read group: %w", err)
		}
		if r.Global, err = placeOf(ctx, tx, board, row.Score); err != nil {
			return err
		}
		r.GlobalPercentileLabel = r.Global.Label
		if r.WithinGPU, err = placeOf(ctx, tx, gpu, row.Score); err != nil {
			return err
		}
		r.Summary = summaryOf(receipt, r)
		return nil
	})
	return r, err
}

// signed reads the members of a result from its signed record, so that a page never shows an
// unsigned value, and returns the receipt in it. Only the row's position in tables comes from
// the store; the audit compares that with the record.
func (b *Board) signed(ctx context.Context, tx *db.Tx, row query.BenchmarkResult, board query.BenchmarkGroup) (r Result, signed benchmark.Receipt, err error) {
	stored, err := tx.BenchmarkReceiptGet(ctx, row.ResultID)
	if err != nil {
		return r, signed, fmt.Errorf("read benchmark receipt: %w", err)
	}
	keys, err := signing.PublicKeys(ctx, tx)
	if err != nil {
		return r, signed, err
	}
	record, err := benchmark.OpenRecord([]byte(stored.Envelope), []byte(stored.WorkerEnvelope), keys)
	if err != nil {
		return r, signed, fmt.Errorf("open benchmark record %s: %w", row.ResultID, err)
	}
	signed = record.Receipt
	return Result{
		Row: b.row(row, board), GPUVendor: signed.GPUVendor, GPUMemoryBytes: signed.GPUMemoryBytes, GPUDriver: signed.GPUDriver, CPUName: signed.CPUName,
		RAMBytes: signed.RAMBytes, OS: signed.OS, BlenderVersion: signed.BlenderVersion, BlenderBuildHash: signed.BlenderBuildHash, Scenes: signed.Scenes,
		StartedAt: signed.StartedAt, CompletedAt: signed.CompletedAt, WorkerKeyID: record.WorkerKeyID, LogIndex: record.LogIndex,
		Envelope: json.RawMessage(stored.Envelope), WorkerEnvelope: json.RawMessage(stored.WorkerEnvelope),
	}, signed, nil
}
