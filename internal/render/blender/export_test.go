package blender

// SetPatience changes the bounds of a process whose file has been opened, which may
// take long on a busy machine.
func (p *Process) SetPatience(patience Patience) { p.opts.Patience = patience }
