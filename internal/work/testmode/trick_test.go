package testmode_test

import (
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/testmode"
)

func TestOnlyNamesOfTheListBringSomething(t *testing.T) {
	t.Parallel()
	for filename, want := range map[string]testmode.Trick{
		"test-out_of_memory.blend":         {Name: "out_of_memory"},
		"test-out_of_memory@7.blend":       {Name: "out_of_memory", Frame: 7},
		"shots/010/test-slow.blend":        {Name: "slow"},
		"test-worker_lost_once":            {Name: "worker_lost_once"},
		"out_of_memory.blend":              {},
		"test-out_of_memory@0.blend":       {},
		"test-out_of_memory@x.blend":       {},
		"test-out_of_memory@.blend":        {},
		"test-.blend":                      {},
		"test-lease_lost.blend":            {},
		"my test-slow.blend":               {},
		"test-slow.blend/scene.blend":      {},
		"test-out_of_memory.blend.1.blend": {},
	} {
		if got := testmode.TrickOf(filename); got != want {
			t.Errorf("%s brings %+v, want %+v", filename, got, want)
		}
	}
}

// TestEveryFailureOfAJobHasAName compares the list with the table of codes, so that a new
// code gets its name.
func TestEveryFailureOfAJobHasAName(t *testing.T) {
	t.Parallel()
	for _, entry := range fault.Table() {
		if entry.Door == fault.DoorJob && testmode.TrickOf("test-"+string(entry.Code)+".blend").Name == "" {
			t.Errorf("no file name brings %s", entry.Code)
		}
	}
}

func TestAStartIsRefusedAsTheServiceWouldRefuseIt(t *testing.T) {
	t.Parallel()
	if err := testmode.Refusal("scene.blend", 5); err != nil {
		t.Errorf("any other file: %v", err)
	}
	err := testmode.Refusal("test-insufficient_funds.blend", 5)
	status, body := fault.Envelope(err, "")
	if status != 402 || body.Error.Code != fault.InsufficientFunds || body.Error.Detail == nil {
		t.Errorf("it answers %d %+v", status, body)
	}
	if testmode.Refusal("test-out_of_memory.blend", 5) != nil {
		t.Error("a failure of a job refuses its start")
	}
}
