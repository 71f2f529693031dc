package client

import "time"

// Health is the service's word that it answers.
type Health struct {
	Service string    `json:"service"`
	Time    time.Time `json:"ts"` // the service's clock
}

// Capabilities is what the service renders with, and whether it takes jobs.
type Capabilities struct {
	Renderers []struct {
		Application string `json:"application"`
		Version     string `json:"version"`
	} `json:"renderers"`
	Availability struct {
		AcceptingJobs bool   `json:"accepting_jobs"`
		QueueState    string `json:"queue_state"` // "idle", "busy" or "no_workers"
	} `json:"availability"`
	Pricing struct {
		AmountMinor int64  `json:"amount_minor"` // cents for one completed frame
		Currency    string `json:"currency"`
	} `json:"pricing"`
}

// Limits are the bounds that the service sets to callers. A rate of 0 is no limit.
type Limits struct {
	FrameCount struct {
		Minimum int `json:"minimum"`
		Maximum int `json:"maximum"`
	} `json:"frame_count"`
	MaximumUploadBytes int64 `json:"maximum_upload_size_bytes"`
	// For a project: all files together, their number, and each part of a file.
	MaximumProjectBytes   int64 `json:"maximum_project_size_bytes"`
	MaximumProjectFiles   int   `json:"maximum_project_files"`
	MaximumPartBytes      int64 `json:"maximum_part_size_bytes"`
	UnstartedStorageBytes int64 `json:"unstarted_storage_bytes"` // of uploads that no job uses
	// Free previews of an upload, and of a workspace within 24 hours; 0 is none.
	FreePreviewsPerUpload int `json:"free_previews_per_upload"`
	FreePreviewsPerDay    int `json:"free_previews_per_day"`
	// What the online workers render with. Capabilities.Renderers has the
	// contract's.
	BlenderVersions []string `json:"blender_versions"`
	RateLimit       struct {
		PerMinute int `json:"requests_per_minute_per_client"`
		Burst     int `json:"burst"`
	} `json:"rate_limit"`
	WorkspaceRateLimit struct {
		PerMinute int `json:"requests_per_minute"`
		Burst     int `json:"burst"`
	} `json:"workspace_rate_limit"` // of all keys of a workspace together
}
