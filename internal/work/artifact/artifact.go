// Package artifact packs a job's frames into the ZIP that its caller downloads, opens
// it, and removes it when its time is over.
//
// What always holds: a frame goes into the ZIP with the hash with which it was
// accepted; a ZIP that no job names is removed; what a job still needs is not.
//
// The package owns no table: completing a job with its artifact, and noting that it
// was removed, is left to job. Start reading at Artifacts.Package, then download.go
// and expire.go; open.go and log.go say what is inside, for those who show it.
package artifact

import (
	"context"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/job"
)

// Artifacts packs, serves and removes ZIPs.
type Artifacts struct {
	DB    *db.DB
	Blobs blob.Store
	Links links.Links
	Jobs  Jobs
}

// Jobs is what becomes of a job by its artifact.
type Jobs interface {
	// Complete completes the job whose lease of job.PackageQueue is l.
	Complete(ctx context.Context, l lease.Lease, a job.Artifact) error
	// FailPackaging fails the job whose frames cannot be packed.
	FailPackaging(ctx context.Context, l lease.Lease) error
	// Object is a job as callers see it.
	Object(ctx context.Context, tx *db.Tx, jobID string) (job.Object, error)
}

// Frame is what is known of an accepted frame, without what Blender said.
type Frame = query.FramesOfRow
