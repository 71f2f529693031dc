package frames

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Accepted frames, their outputs, and pictures that await another carry checksums. A frame's leaves out
// Blender's output, which is forgotten before the frame.
var (
	frameRows     = rowsum.Table[query.Frame]{Name: "frame", Key: 2, Except: []string{"Log"}, Later: []string{"Times", "Checked", "Origin", "Outputs"}}
	outputRows    = rowsum.Table[query.FrameOutput]{Name: "frame_output", Key: 3}
	candidateRows = rowsum.Table[query.Candidate]{Name: "candidate", Key: 3}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{frameRows, outputRows, candidateRows}
