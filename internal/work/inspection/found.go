package inspection

import (
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/quote"
)

// mostSequences bounds the sequences with gaps that are kept of a scene: each quote holds
// them against its frames.
const mostSequences = 100

// PutFiles puts what was found into a scene, in place of what the main file alone tells.
func PutFiles(s *quote.Scene, found *scenefiles.Found) {
	s.Files, s.FilesPartial = []quote.SceneFile{}, found.Partial
	s.MissingFiles, s.LinkedLibraries, s.MissingData = []quote.MissingFile{}, []string{}, nil
	from := func(at string) string { // "" of the main file
		if at == found.Main {
			return ""
		}
		return at
	}
	for _, m := range found.Simulations {
		s.Simulations = append(s.Simulations, simulationOf(m, m.Folder))
	}
	for _, script := range found.Scripted {
		s.AutorunScripts, s.UsesAutorunScripts = append(s.AutorunScripts, quote.Script(script)), true
	}
	if s.ColorManagement != nil {
		for _, u := range found.Spaces {
			s.ColorManagement.Others = append(s.ColorManagement.Others, quote.UsedSpace(u))
		}
	}
	if c := found.Colours; c != nil {
		s.Configure(c.Path, c.SHA256, c.Version, c.Offer)
	}
	needPacked(s, found.Packed)
	s.WorldVolume = s.WorldVolume || found.WorldVolume
	if s.StripOverlap > 0 && (s.WorldVolume || len(found.Simulations)+len(s.LinkedLibraries) > 0) { // only the main file is known so well
		s.StripOverlap, s.WholeFrames = 0, strips.Unproven.Text()
	}
	lackData(s, found.Gone, found.Main)
	for i := range found.Files {
		f := &found.Files[i]
		needFound(s, f, from(f.From))
		kind, status := f.Words()
		s.Files = append(s.Files, quote.SceneFile{
			Path: f.Path, Kind: string(kind), From: f.From, Owner: f.Owner, UsedBy: f.UsedBy, Status: quote.FileStatus(status), Wanted: f.Wanted, Stored: f.Stored,
		})
		for _, u := range f.Unreadable {
			s.UnreadableFiles = append(s.UnreadableFiles, quote.UnreadableFile{Path: u.Path, Why: u.Why, Kind: string(f.Kind), Owner: f.Owner, UsedBy: f.UsedBy, From: from(f.From)})
		}
		if q := f.Sequence; q != nil && len(s.Sequences) < mostSequences {
			s.Sequences = append(s.Sequences, quote.Sequence{Path: f.Path, Kind: string(kind), Owner: f.Owner, UsedBy: f.UsedBy, From: from(f.From), Uses: q.Uses, Lacks: q.Lacks})
		}
		for _, lacking := range f.Lacking {
			if f.Reach == scenefiles.ReachNeeded {
				s.MissingFiles = append(s.MissingFiles, quote.MissingFile{Kind: string(f.Kind), Path: lacking, Owner: f.Owner, UsedBy: f.UsedBy, From: from(f.From)})
			}
		}
		switch {
		case !f.Gone():
		case f.Kind == scenefiles.KindLibrary:
			s.LinkedLibraries = append(s.LinkedLibraries, f.Stored)
		default:
			s.MissingFiles = append(s.MissingFiles, quote.MissingFile{Kind: string(f.Kind), Path: f.Stored, Owner: f.Owner, UsedBy: f.UsedBy, From: from(f.From)})
		}
	}
}
