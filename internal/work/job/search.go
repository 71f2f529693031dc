package job

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/quote"
)

// readAtOnce is how many jobs a search for frames compares between two statements.
const readAtOnce = 500

// page reads the ids of a page, and one more, the newest first.
func (s search) page(ctx context.Context, tx *db.Tx) ([]string, error) {
	switch {
	case s.filter != Filter{}:
		return s.found(ctx, tx, func(p query.JobPageFoundParams) (rows []query.JobPageFoundRow, next string, err error) {
			rows, err = tx.JobPageFound(ctx, p)
			if err == nil && len(rows) > 0 {
				next = rows[len(rows)-1].JobID
			}
			return rows, next, err
		})
	case s.Status != "":
		return tx.JobPageOf(ctx, query.JobPageOfParams{WorkspaceID: s.WorkspaceID, Status: s.Status, Before: s.Before, Max: s.Max})
	}
	return tx.JobPage(ctx, query.JobPageParams{WorkspaceID: s.WorkspaceID, Before: s.Before, Max: s.Max})
}

// newer reads the id after which the page of newer jobs begins; "" where it is the first.
func (s search) newer(ctx context.Context, tx *db.Tx) (string, error) {
	after := s.Max - 1
	switch {
	case s.filter != Filter{}:
		ids, err := s.found(ctx, tx, func(p query.JobPageFoundParams) (rows []query.JobPageFoundRow, next string, err error) {
			newer, err := tx.JobPageFoundNewer(ctx, query.JobPageFoundNewerParams(p))
			for _, r := range newer {
				rows, next = append(rows, query.JobPageFoundRow(r)), r.JobID+"0" // before every later id
			}
			return rows, next, err
		})
		if int64(len(ids)) < s.Max {
			return "", err
		}
		return ids[after], err
	case s.Status != "":
		return db.OrEmpty(tx.JobPageOfNewer(ctx, query.JobPageOfNewerParams{WorkspaceID: s.WorkspaceID, Status: s.Status, Before: s.Before, Max: after}))
	}
	return db.OrEmpty(tx.JobPageNewer(ctx, query.JobPageNewerParams{WorkspaceID: s.WorkspaceID, Before: s.Before, Max: after}))
}

// found reads the first ids that a search finds, as many as its Max. read is its statement, which
// also says where the statement after it begins.
func (s search) found(ctx context.Context, tx *db.Tx, read func(query.JobPageFoundParams) (rows []query.JobPageFoundRow, next string, err error)) (ids []string, err error) {
	p := s.JobPageFoundParams
	if s.filter.Person != "" {
		people, err := identity.PeopleNamed(ctx, tx, s.WorkspaceID, s.filter.Person)
		if err != nil || len(people) == 0 {
			return nil, err
		}
		p.People = "," + strings.Join(people, ",") + ","
	}
	if s.frames != nil {
		p.Max = max(s.Max, readAtOnce)
	}
	for {
		rows, next, err := read(p)
		if err != nil {
			return nil, err
		}
		having, err := s.having(ctx, tx, rows)
		if err != nil {
			return nil, err
		}
		if ids = append(ids, having...); int64(len(ids)) >= s.Max {
			return ids[:s.Max], nil
		}
		if int64(len(rows)) < p.Max {
			return ids, nil
		}
		p.Before = next
	}
}

// having returns the jobs that have all frames of the search, of those whose first and last frame
// allow it. The frames of a job that are no range are in its row alone.
func (s search) having(ctx context.Context, tx *db.Tx, rows []query.JobPageFoundRow) (ids []string, err error) {
	gaps := []string{}
	for _, r := range rows {
		if s.frames != nil && !isRange(r) {
			gaps = append(gaps, r.JobID)
		}
	}
	lists := map[string]string{}
	if len(gaps) > 0 {
		asked, err := jsonOf(gaps)
		if err != nil {
			return nil, err
		}
		found, err := tx.JobFrameLists(ctx, query.JobFrameListsParams{WorkspaceID: s.WorkspaceID, Ids: asked})
		if err != nil {
			return nil, fmt.Errorf("read the frames of jobs: %w", err)
		}
		for _, l := range found {
			lists[l.JobID] = l.Frames
		}
	}
	for _, r := range rows {
		has := framelist.Range{First: int(r.FrameStart), Last: int(r.FrameEnd), Step: int(r.FrameStep)}.Has
		if s.frames != nil && !isRange(r) {
			list, err := quote.ListOf(r.FrameStart, r.FrameEnd, r.FrameStep, r.FrameCount, lists[r.JobID])
			if err != nil {
				continue // the row is damaged, as the audit says
			}
			has = list.Has
		}
		if !slices.ContainsFunc(s.frames, func(n int) bool { return !has(n) }) {
			ids = append(ids, r.JobID)
		}
	}
	return ids, nil
}

// isRange reports whether the frames of a job are a range.
func isRange(r query.JobPageFoundRow) bool {
	return r.FrameStep > 0 && r.FrameStart+(r.FrameCount-1)*r.FrameStep == r.FrameEnd
}

// jsonOf writes ids as the statements take many.
func jsonOf(ids []string) (string, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return "", fmt.Errorf("list ids: %w", err)
	}
	return string(list), nil
}
