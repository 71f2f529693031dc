//go:build !linux

package ratelimit

import "time"

// systemThread charges nothing: a service for many callers runs on Linux, and elsewhere the
// bound on working time remains.
type systemThread struct{}

// Used implements Thread.
func (systemThread) Used() time.Duration { return 0 }

// ID implements Thread.
func (systemThread) ID() int { return 0 }
