package contract

import (
	"slices"
	"time"
)

// Terms are what one version of the price list promises. Quotes and upload links are
// stored with the version under which they were made, and are judged by it for ever.
type Terms struct {
	Version       string // stored with each quote, job and receipt
	CentsPerFrame int64  // US cents for each completed frame (spec 1.6)
	// QuoteLifetime is how long a quote's price is locked, from when it was made.
	QuoteLifetime time.Duration
	// UploadLinkLife is how long an upload link works that an agent gives to the person
	// with the file.
	UploadLinkLife time.Duration
}

// Price returns what a number of frames costs, in cents. It is the only price formula.
func (t Terms) Price(frames int64) int64 { return frames * t.CentsPerFrame }

// Book is every version of the terms, the current one last.
type Book []Terms

// Published returns the terms of this service. To change the price or a lifetime, add a
// version at the end. Never edit a version that was released: the audit judges data
// stored under a version by its terms here.
func Published() Book {
	return Book{
		{Version: "fixed-1c-v1", CentsPerFrame: 1, QuoteLifetime: 24 * time.Hour, UploadLinkLife: 15 * time.Minute},
	}
}

// Current returns the terms that new quotes get.
func (b Book) Current() Terms { return b[len(b)-1] }

// Of returns the terms of a version. ok is false for a version that was never published.
func (b Book) Of(version string) (terms Terms, ok bool) {
	i := slices.IndexFunc(b, func(t Terms) bool { return t.Version == version })
	if i < 0 {
		return Terms{}, false
	}
	return b[i], true
}

// OfLink returns the terms of an upload link. Links that were stored before links had a
// version are of the first terms.
func (b Book) OfLink(version string) (terms Terms, ok bool) {
	if version == "" {
		return b[0], true
	}
	return b.Of(version)
}
