package admin

import (
	"time"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/process"
)

// workerID is the worker of the examples.
const workerID = "NOD-0198c0de000070008000000000000009"

// stateExamples are the answers of the routes that read.
type stateExamples struct {
	status     operator.Status
	workspaces operator.WorkspaceList
	workspace  operator.Workspace
	jobs       operator.JobList
	job        operator.Job
	log        operator.JobHistory
	workers    operator.WorkerList
	worker     operator.Worker
	alerts     operator.AlertList
	usage      operator.UsageList
	processes  operator.ProcessList
	letters    operator.DeadLetterList
	acts       operator.ActList
}

func exampleState() stateExamples {
	worker := dispatch.WorkerView{
		WorkerID: workerID, KeyID: sample.KeyID, Name: "gpu-1", State: dispatch.WorkerRendering, Frames: 1, Device: contract.RenderDevice, DeviceName: sample.Device,
		Renderer: contract.RendererID, BlenderVersion: contract.BlenderVersion, Denoise: "keep", Tags: []string{"gpu"}, RegisteredAt: sample.Time(0), SeenAt: sample.Time(time.Minute),
	}
	held := []dispatch.HeldFrame{{JobID: sample.JobID, Frame: 7, WorkerID: workerID, Attempt: 1, Progress: 40, LapsesAt: sample.Time(2 * time.Minute)}}
	rendering := sample.Job(links.Links{}, job.FlowJobAPI, job.Rendering)
	frame := int64(1)
	return stateExamples{
		status: operator.Status{
			OK: true, WaitingFrames: 243, HeldFrames: 1, Waiting: []operator.WaitingOf{{WorkspaceID: sample.WorkspaceID, Frames: 243}},
			Workers: []operator.WorkersIn{{State: worker.State, Count: 1}}, Alerts: 1, Processes: []operator.ProcessState{{Host: "svc-1", Version: "1.0.0", Alive: true}},
			Audit: &operator.AuditOutcome{EndedAt: sample.Time(0)},
		},
		workspaces: operator.WorkspaceList{OK: true, Workspaces: []identity.WorkspaceView{{
			WorkspaceID: sample.WorkspaceID, Name: "you@example.com", CreatedAt: sample.Time(0), AvailableCents: 9_750, ReservedCents: sample.Frames, Jobs: 1,
		}}},
		workspace: operator.Workspace{
			OK: true, WorkspaceID: sample.WorkspaceID, Name: "you@example.com", CreatedAt: sample.Time(0), People: []string{"you@example.com"}, Tags: []string{},
			AvailableCents: 9_750, ReservedCents: sample.Frames, Jobs: map[string]int64{string(job.Rendering): 1},
			Keys:    []operator.ListedKey{{KeyID: sample.KeyID, Kind: "agent", Name: "nightly agent", MaskedPrefix: contract.AgentKeyPrefix + "1aB9xY0z…", CreatedAt: sample.Time(0)}},
			Entries: []operator.LedgerEntry{{TransactionID: "TXN-0198c0de00007000800000000000000a", Kind: "credit", Reference: "invoice 17", AmountCents: 10_000, CreatedAt: sample.Time(0)}},
		},
		jobs: operator.JobList{OK: true, Jobs: []job.Summary{{
			JobID: sample.JobID, WorkspaceID: sample.WorkspaceID, Status: job.Rendering, Filename: sample.Filename, FrameCount: sample.Frames, FramesCompleted: 6,
			PriceCents: sample.Frames, CreatedAt: sample.Time(0), UpdatedAt: sample.Time(time.Minute),
		}}},
		job: operator.Job{OK: true, Job: rendering, Frames: held, Failures: []dispatch.FailedFrame{}},
		log: operator.JobHistory{OK: true, JobID: sample.JobID, Log: []operator.LogEntry{
			{At: sample.Time(0), Kind: operator.LogClaimed, Text: "a worker took the first frame"},
			{At: sample.Time(time.Minute), Kind: operator.LogAccepted, Text: "frame 1 accepted after 6.4 s, attempt 1 on gpu-1", Frame: &frame, Attempt: 1, WorkerID: workerID, WorkerName: "gpu-1", Seconds: 6.4},
		}},
		workers: operator.WorkerList{OK: true, Workers: []dispatch.WorkerView{worker}, PausedKeys: []dispatch.PausedKey{}, RefutedKeys: []dispatch.RefutedKey{}},
		worker:  operator.Worker{OK: true, Worker: worker, Frames: held, Failures: []dispatch.FailedFrame{}},
		alerts:  operator.AlertList{OK: true, Alerts: []operators.Standing{{Name: "no_worker", Title: "No worker is online", Since: sample.Time(0)}}},
		usage: operator.UsageList{OK: true, Usage: []operator.Usage{{
			Month: "2026-01", WorkspaceID: sample.WorkspaceID, Jobs: 1, Frames: sample.Frames, RenderSeconds: 1612.5, ChargedCents: sample.Frames,
		}}},
		processes: operator.ProcessList{OK: true, Processes: []process.Process{{
			ProcessID: "PRC-0198c0de00007000800000000000000b", Host: "svc-1", Version: "1.0.0", Schema: 77, StartedAt: sample.Time(0), SeenAt: sample.Time(time.Minute), Alive: true,
		}}},
		letters: operator.DeadLetterList{OK: true, DeadLetters: []lease.DeadLetter{{
			ID: "webhook_notice:" + sample.JobID + ":0", Queue: "webhook_notice", Subject: sample.JobID, Failures: 10, Reason: "the mail server refused it", DiedAt: sample.Time(time.Minute),
		}}},
		acts: operator.ActList{OK: true, Acts: []operator.Done{{
			ActID: "ACT-0198c0de00007000800000000000000c", ActedAt: sample.Time(time.Minute), Actor: sample.KeyID, Way: operator.API,
			What: "pause " + sample.JobID + " of " + sample.WorkspaceID + ": workers finish the frames of it that they have and take no more", WorkspaceID: sample.WorkspaceID, Reason: "the disk is full",
		}}},
	}
}
