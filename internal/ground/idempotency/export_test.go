package idempotency

// Die leaves the hold as a process does that is killed: nobody prolongs it.
func (h *Hold) Die() {
	h.stop()
	h.kept.Wait()
}
