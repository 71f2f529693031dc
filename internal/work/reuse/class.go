package reuse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/rowsum"
)

// ID names a class in the store.
func (c Class) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", c))
	return hex.EncodeToString(sum[:6])
}

// ComparedClass is what comparing reused frames of a class has shown.
type ComparedClass struct {
	ClassID string `json:"class_id"`
	Class
	Agreed   int64      `json:"agreed"`
	Differed int64      `json:"differed"`
	OffAt    *time.Time `json:"off_at,omitempty"` // since then its frames are not reused
}

// Compared records that a reused frame of a class was rendered again, and whether it showed the
// same. A difference switches reuse off for the class; off is whether this one did.
func Compared(ctx context.Context, tx *db.Tx, class Class, same bool) (off bool, err error) {
	add := query.ReuseClassAddParams{
		ClassID: class.ID(), Renderer: class.Renderer, Device: class.Device, DeviceName: class.DeviceName, BlenderVersion: class.BlenderVersion, BuildHash: class.BuildHash,
	}
	add.RowSum = classRows.Of(add)
	if err := tx.ReuseClassAdd(ctx, add); err != nil {
		return false, fmt.Errorf("record a comparison: %w", err)
	}
	p := query.ReuseClassComparedParams{ClassID: add.ClassID, Now: tx.Now, Agreed: 1}
	if !same {
		p.Agreed, p.Differed = 0, 1
	}
	row, err := tx.ReuseClassCompared(ctx, p)
	if _, err := classRows.Changed(ctx, tx, row, err); err != nil {
		return false, fmt.Errorf("record a comparison: %w", err)
	}
	return !same && row.OffAt == tx.Now, nil
}

// Off lists the classes whose frames are not reused.
func Off(ctx context.Context, tx *db.Tx) (map[Class]bool, error) {
	rows, err := tx.ReuseClassesOff(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the classes without reuse: %w", err)
	}
	off := make(map[Class]bool, len(rows))
	for _, row := range rows {
		off[classOf(row)] = true
	}
	return off, nil
}

// Standings lists all classes of which frames were compared, those without reuse first.
func Standings(ctx context.Context, tx *db.Tx) ([]ComparedClass, error) {
	rows, err := tx.ReuseClasses(ctx)
	if err != nil {
		return nil, fmt.Errorf("list what was compared: %w", err)
	}
	all := make([]ComparedClass, 0, len(rows))
	for _, row := range rows {
		all = append(all, standingOf(row))
	}
	return all, nil
}

// StandingOf reads one class. Error: reuse_class_not_found.
func StandingOf(ctx context.Context, tx *db.Tx, classID string) (ComparedClass, error) {
	row, err := tx.ReuseClassGet(ctx, classID)
	if db.IsNotFound(err) {
		return ComparedClass{}, fault.New(fault.ReuseClassNotFound, "No class of workers has the id %s.", classID)
	}
	if err != nil {
		return ComparedClass{}, fmt.Errorf("read a class: %w", err)
	}
	return standingOf(row), nil
}

// Reset lets frames of a class be reused again. Repeating it changes nothing.
func Reset(ctx context.Context, tx *db.Tx, classID string) error {
	row, err := tx.ReuseClassReset(ctx, classID)
	if _, err := classRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("switch reuse on: %w", err)
	}
	return nil
}

func classOf(row query.ReuseClass) Class {
	return Class{row.Renderer, row.Device, row.DeviceName, row.BlenderVersion, row.BuildHash}
}

func standingOf(row query.ReuseClass) ComparedClass {
	s := ComparedClass{ClassID: row.ClassID, Class: classOf(row), Agreed: row.Agreed, Differed: row.Differed}
	if row.OffAt != 0 {
		s.OffAt = new(db.Time(row.OffAt))
	}
	return s
}

// What was compared carries a checksum: nothing else in the store says it.
var classRows = rowsum.Table[query.ReuseClass]{Name: "reuse_class", Key: 1}

// auditClasses reports classes that are not as they were written.
func auditClasses(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	rows, err := tx.ReuseClasses(ctx) // few, and none is left out for its key
	if err != nil {
		return fmt.Errorf("audit classes: %w", err)
	}
	for _, row := range rows {
		classRows.Check(row, breach)
		if classOf(row).ID() != row.ClassID || row.Agreed < 0 || row.Differed < 0 || row.OffAt != 0 && row.Differed == 0 {
			breach("a class without reuse was found different", row.ClassID, "%d of its frames agreed and %d differed; it is off since %d", row.Agreed, row.Differed, row.OffAt)
		}
	}
	return nil
}
