package coverage

// webhooks is spec 6.
func webhooks() []Rule {
	return []Rule{
		shown("6", "Each end of a job sends its event",
			"clients.TestRealReceiversVerifyWhatIsSent", "webhook.TestAuditFindsEachBreach").lines("render.completed", "render.failed", "render.cancelled"),
		shown("6 rule 1", "A webhook is configured for one job; webhook_configured tells", "clients.TestRealReceiversVerifyWhatIsSent"),
		shown("6 rule 2", "Events are signed, go over https from a durable queue, follow no redirect and reach no private network",
			"webhook.TestTriesFollowTheSchedule", "webhook.TestAnswerDecidesTheDelivery", "outbound.TestAddressesThatNoStrangerMayCall"),
		shown("6 rule 3", "A receiver that reads the job finds the state that the event tells of", "processes.TestNothingIsLostWhereverTheServerIsKilled"),
		shown("6 rule 4", "There are no other terminal events", "api.TestDiscoverySaysThePublishedConstants"),
	}
}
