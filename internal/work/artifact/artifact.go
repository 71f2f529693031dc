// Package artifact packs a job's frames into the ZIP that its caller downloads, opens
// the ZIP, and removes it after its retention.
//
// What always holds: the ZIP contains each frame with the hash with which it was
// accepted; a ZIP that no job names is removed; a file that a job still needs is not.
//
// The package owns no table. It leaves to job to complete a job with its artifact and to
// record the removal, and to result to read a job's frames and logs. Start reading at
// Artifacts.Package, then download.go and expire.go.
package artifact

import (
	"context"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/job"
	"svc.example/internal/work/reuse"
)

// Artifacts packs, serves and removes ZIPs. The fields are set once, before the first
// call; all methods are safe for concurrent use.
type Artifacts struct {
	DB    *db.DB
	Blobs blob.Store  // frames under frames/JOB/, ZIPs under artifacts/
	Whole *blob.Whole // what of Blobs was hashed, one for the process
	Links links.Links // checks the signature of download addresses
	Jobs  Jobs
	// Frames renders again what is lost before it is packed.
	Frames Frames
	// Reuse reads what frames come from, so that later jobs find them; nil keeps nothing.
	Reuse Comparer
}

// Comparer is the part of source.Reader that this package needs.
type Comparer interface {
	// OfUpload reads what frames of an upload come from.
	OfUpload(ctx context.Context, workspaceID, uploadID string, s settings.Settings, frames framelist.List) (reuse.Pictures, error)
}

// Frames is the part of frames.Frames that this package needs.
type Frames interface {
	// RenderAgain puts frames back on the queue of the job whose lease of
	// job.PackageQueue is l, and ends the lease.
	RenderAgain(ctx context.Context, l lease.Lease, lost []int64) error
}

// Jobs is the part of job.Jobs that this package needs.
type Jobs interface {
	// Complete completes the job whose lease of job.PackageQueue is l.
	Complete(ctx context.Context, l lease.Lease, a job.Artifact) error
	// Object is a job as callers see it.
	Object(ctx context.Context, tx *db.Tx, jobID string) (job.Object, error)
}
