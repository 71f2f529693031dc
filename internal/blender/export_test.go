package blender

import "time"

// SetSilence changes the limit of a process whose file has been opened, which may
// take long on a busy machine.
func (p *Process) SetSilence(d time.Duration) { p.opts.Silence = d }
