package coverage

// agentTools is spec 4.5.
func agentTools() []Rule {
	return []Rule{
		shown("4.5", "A tool server at /mcp takes agent keys only", "agent.TestOnlyAnAgentKeyOpensTheDoor", "agent.TestTheDoorStandsBehindAProxy"),
		shown("4.5", "It has the six tools, and svc_preview; svc_render and svc_submit_render are not among them",
			"agent.TestNoToolTakesACredential", "agent.TestWhatAgentsAreToldIsWhatItWas", "agent.TestWhatToolsSayIsWhatTheySaid", "agent.TestAWholeJobGoesByTools",
			"clients.TestTheNpmClientOfTheProtocolRendersAJob", "clients.TestTheInspectorRegistersIsLetInAndRenders", "clients.TestAnAgentThatKnowsNothingGoesFromABrokenFileToAVerifiedZIP"),
		shown("4.5", "svc_start alone spends",
			"agent.TestNothingIsSpentWithoutAQuoteTwiceOrAboveAMaximum", "agent.TestASpendLimitHoldsOverAllDoorsUnderRace",
			"clients.TestAnAgentStopsWhereItMayNotSpend"),
		shown("4.5", "No tool takes a credential as an argument", "agent.TestNoToolTakesACredential"),
	}
}
