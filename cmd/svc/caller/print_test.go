package caller

import (
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/work/receipt"
)

// TestThePriceSaysWhichFramesItDoesNotPay, before and after.
func TestThePriceSaysWhichFramesItDoesNotPay(t *testing.T) {
	t.Parallel()
	frames := make([]receipt.Frame, 6)
	for i := range 3 {
		frames[i].Reused = receipt.Origin{ReceiptID: "RCT-1", LogIndex: 1}
	}
	r := Result{Folder: "out", Frames: make([]string, 6)}
	r.take(&receipt.Receipt{ChargedCents: 3, Currency: "USD", Frames: frames})
	var said strings.Builder
	r.Print(&said)
	if !strings.Contains(said.String(), "$0.03 for 6 frames, 3 taken over at no cost\n") {
		t.Error(said.String())
	}
}

// TestAResultSaysWhereItsOutputsAre: they are not among the files of the folder.
func TestAResultSaysWhereItsOutputsAre(t *testing.T) {
	t.Parallel()
	for _, with := range []bool{true, false} {
		frames := make([]receipt.Frame, 2)
		if with {
			frames[0].Outputs, frames[1].Outputs = make([]receipt.Output, 1), make([]receipt.Output, 2)
		}
		r := Result{Folder: "out", Frames: make([]string, 2)}
		r.take(&receipt.Receipt{Frames: frames})
		var said strings.Builder
		r.Print(&said)
		if strings.Contains(said.String(), "outputs   3 files besides the frames, below outputs/ in the ZIP\n") != with {
			t.Error(said.String())
		}
	}
}

// TestThePriceSaysWhyFramesAreRendered, with the first reasons only.
func TestThePriceSaysWhyFramesAreRendered(t *testing.T) {
	t.Parallel()
	c := client.Changes{JobID: "JOB-1", Filename: "shot_v1.blend", Inseparable: "it uses a particle system", CausesLeftOut: 3, Causes: []client.Change{
		{Frames: "97-139", What: "action Walk", How: "changed", Keys: 2}, {Frames: "1-9", AllFrames: true, What: "camera B", How: "added"},
	}}
	for range mostCauses {
		c.Causes = append(c.Causes, client.Change{Frames: "5", What: "material Floor", How: "changed"})
	}
	var said strings.Builder
	table := terminal.NewTable(&said)
	printChanges(table, &c)
	printChanges(table, nil)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "changed  since JOB-1 (shot_v1.blend)\n         frames 97-139: action Walk, 2 keys\n         all frames: camera B added\n" +
		strings.Repeat("         frame 5: material Floor\n", mostCauses-2) +
		"         and 5 more\n         a changed key changes all frames, because it uses a particle system\n"
	if said.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &said, want)
	}
}

// TestAFolderOfTestModeIsVerifiedAsSuch: without --test, svc verify refuses its receipt.
func TestAFolderOfTestModeIsVerifiedAsSuch(t *testing.T) {
	t.Parallel()
	for _, test := range []bool{true, false} {
		var said strings.Builder
		(&Result{Folder: "out", Frames: []string{"out/frame_0001.png"}, Test: test}).Print(&said)
		_, after, _ := strings.Cut(said.String(), "svc verify out")
		if flag := strings.HasPrefix(after, " --test"); flag != test || strings.Contains(said.String(), "nobody has paid") != test {
			t.Errorf("with test %t:\n%s", test, &said)
		}
	}
}

// TestTheTermsStandInTheTableOfThePrice, however wide its names are.
func TestTheTermsStandInTheTableOfThePrice(t *testing.T) {
	t.Parallel()
	q := client.Quote{Filename: "a.blend", FrameList: "1", FrameCount: 1, Currency: "USD", Qualified1C: true, TermsURL: "https://svc.example.com/terms"}
	for _, warnings := range [][]client.Warning{nil, {{Code: "no_camera", Message: "There is none."}}} {
		q.Warnings = warnings
		var said strings.Builder
		printQuote(terminal.NewDisplay(&said, time.Now), &q, nil, &client.Wallet{})
		columns := map[int]bool{}
		for line := range strings.Lines(said.String()) {
			name, rest, _ := strings.Cut(line, " ")
			columns[len(name)+1+len(rest)-len(strings.TrimLeft(rest, " "))] = true
		}
		if len(columns) != 1 || !strings.Contains(said.String(), "https://svc.example.com/terms (SVC_LEGAL_V1)\n") {
			t.Errorf("columns begin at %v:\n%s", columns, &said)
		}
	}
}
