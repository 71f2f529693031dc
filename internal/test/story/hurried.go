package story

import (
	"sync/atomic"
	"time"
)

// Hurried is a clock that, once hurried, is a minute later at every look.
type Hurried struct {
	On    atomic.Bool
	looks atomic.Int64
}

// Skew is how far the clock is ahead.
func (c *Hurried) Skew() time.Duration {
	if c.On.Load() {
		c.looks.Add(1)
	}
	return time.Duration(c.looks.Load()) * time.Minute
}
