package blender

// SetPatience changes the bounds of a process whose file has been opened, which may
// take long on a busy machine.
func (p *Process) SetPatience(patience Patience) { p.opts.Patience = patience }

// Attacked returns options of a process in which Python of an attacker runs within the driver,
// before it takes commands.
func (o Options) Attacked(code string) Options {
	o.attack = code
	return o
}
