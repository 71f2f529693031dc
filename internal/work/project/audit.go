package project

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
)

// Audit reports uploads without a project, removed uploads that still have one, projects
// that differ from their upload or from the content that they use, and content that no
// project uses and that is no part that waits for one. It reads page by page. It compares rows only; whether each blob is in the
// store is for the audit package. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, thing, format string, args ...any)) error {
	uploads, err := tx.AuditProjectless(ctx)
	if err != nil {
		return fmt.Errorf("audit projects: %w", err)
	}
	for _, uploadID := range uploads {
		breach("an upload has a project until it is removed", uploadID, "it has no project, or was removed and still has one")
	}
	if err := auditProjects(ctx, tx, breach); err != nil {
		return fmt.Errorf("audit projects: %w", err)
	}
	unused, err := tx.AuditUnusedContent(ctx, contract.MaxPartBytes)
	if err != nil {
		return fmt.Errorf("audit content: %w", err)
	}
	for _, c := range unused {
		breach("content goes with its last project", c.Sha256, "workspace %s has it, no project uses it", c.WorkspaceID)
	}
	if err := auditContent(ctx, tx, breach); err != nil {
		return fmt.Errorf("audit content: %w", err)
	}
	return nil
}

// auditProjects compares each project with its upload and the rows of its content.
func auditProjects(ctx context.Context, tx *db.Tx, breach func(rule, thing, format string, args ...any)) error {
	stored, err := tx.AuditUseCount(ctx)
	if err != nil {
		return err
	}
	for after := ""; ; {
		rows, err := tx.AuditProjects(ctx, after)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		last := rows[len(rows)-1].Project.UploadID
		uses, err := tx.AuditUses(ctx, query.AuditUsesParams{After: after, Last: last})
		if err != nil {
			return err
		}
		of := map[string][]query.AuditUsesRow{}
		for _, use := range uses {
			of[use.UploadID] = append(of[use.UploadID], use)
		}
		for _, row := range rows {
			if why := strange(row, of[row.Project.UploadID]); why != "" {
				breach("a project is what was uploaded", row.Project.UploadID, "%s", why)
			}
			stored -= int64(len(of[row.Project.UploadID]))
		}
		after = last
	}
	if stored != 0 {
		breach("a project is what was uploaded", "content", "%d uses belong to no project", stored)
	}
	return nil
}

// overlap is how long two transactions that store equal bytes may wait for each other, in
// microseconds: the first to begin may be the second to have the workspace's lock, and then
// uses content that is younger than itself.
const overlap = int64(time.Hour / time.Microsecond)

// strange says how a project contradicts its upload; "" if it does not.
func strange(row query.AuditProjectsRow, uses []query.AuditUsesRow) string {
	p := row.Project
	m, err := decode(p.Manifest)
	if err == nil {
		err = m.Check()
	}
	switch {
	case err != nil:
		return err.Error()
	case p.WorkspaceID != row.Owner:
		return fmt.Sprintf("it belongs to %q, its upload to %q", p.WorkspaceID, row.Owner)
	case p.CreatedAt != row.UploadedAt:
		return fmt.Sprintf("it is of %d, its upload of %d", p.CreatedAt, row.UploadedAt)
	case m.Name() != row.Filename || m.MainFile().SHA256 != row.Sha256 || m.MainFile().SizeBytes != row.SizeBytes:
		return fmt.Sprintf("its main file is %+v, the upload is %q of %d bytes with the hash %s", m.MainFile(), row.Filename, row.SizeBytes, row.Sha256)
	}
	sizes := map[string]int64{}
	var used []string
	for _, use := range uses {
		used = append(used, use.Sha256)
		if use.WorkspaceID != p.WorkspaceID || use.SizeBytes < 0 || use.KeptAt > p.CreatedAt+overlap {
			return fmt.Sprintf("it uses %s of workspace %q, which has %d bytes since %d", use.Sha256, use.WorkspaceID, use.SizeBytes, use.KeptAt)
		}
		sizes[use.Sha256] = use.SizeBytes
	}
	if !slices.Equal(used, m.Parts()) {
		return fmt.Sprintf("it uses the content %q, its manifest lists %q", used, m.Parts())
	}
	for _, f := range m.Files {
		var size int64
		for _, sum := range f.Parts {
			size += sizes[sum]
		}
		if size != f.SizeBytes {
			return fmt.Sprintf("its file %q has %d bytes, its content %d", f.Path, f.SizeBytes, size)
		}
	}
	return ""
}

// auditContent checks the form of what names bytes on disk.
func auditContent(ctx context.Context, tx *db.Tx, breach func(rule, thing, format string, args ...any)) error {
	var last query.Content
	for {
		rows, err := tx.AuditContent(ctx, query.AuditContentParams{WorkspaceID: last.WorkspaceID, Sha256: last.Sha256})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, c := range rows {
			contentRows.Check(c, breach)
			if !digest.Is(c.Sha256) || c.SizeBytes < 1 || c.CreatedAt < 1 || !strings.HasPrefix(c.BlobKey, "uploads/") {
				breach("content is stored under a key", c.Sha256, "of workspace %q: %d bytes since %d under %q", c.WorkspaceID, c.SizeBytes, c.CreatedAt, c.BlobKey)
			}
		}
		last = rows[len(rows)-1]
	}
}
