package coverage

// webhooks is spec 6.
func webhooks() []Rule {
	return []Rule{
		beingBuilt("6", "Each end of a job sends its event").lines("render.completed", "render.failed", "render.cancelled"),
		beingBuilt("6 rule 1", "A webhook is configured for one job; webhook_configured tells"),
		beingBuilt("6 rule 2", "Events are signed, go over https from a durable queue, follow no redirect and reach no private network"),
		beingBuilt("6 rule 3", "A receiver that reads the job finds the state that the event tells of"),
		beingBuilt("6 rule 4", "There are no other terminal events"),
	}
}
