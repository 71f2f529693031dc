package coverage

// agentTools is spec 4.5.
func agentTools() []Rule {
	return []Rule{
		beingBuilt("4.5", "A tool server at /mcp takes agent keys only"),
		beingBuilt("4.5", "It has the six tools; svc_render and svc_submit_render are not among them"),
		beingBuilt("4.5", "svc_start alone spends"),
		beingBuilt("4.5", "No tool takes a credential as an argument"),
	}
}
