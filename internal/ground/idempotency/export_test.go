package idempotency

// Die leaves the hold as a process does that is killed: it is not extended.
func (h *Hold) Die() {
	h.stop()
	h.kept.Wait()
}
