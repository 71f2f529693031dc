package coverage

// limits are spec 8.
func limits() []Rule {
	return []Rule{
		shown("8", "10000 frames pass and 10001 do not, at preflight, upload and inspect", "api.TestTenThousandFramesPassAndOneMoreDoesNot", "quote.TestRequestedRangeIsChecked",
			"api.TestAStepOfZeroAndACountThatDisagreesAreRefused").
			lines("frames of a request"),
		shown("8", "104857600 bytes pass and one more does not", "clients.TestTheLargestUploadPassesAndOneByteMoreLeavesNothing").lines("upload"),
		shown("8", "What is no .blend, or not for Cycles, is refused at inspect", "clients.TestARefusedUploadLeavesNothing", "api.TestBadRequestsMeetTheirCode").
			lines("input"),
		shown("8", "20 requests pass at once, then one a second, counted over all processes",
			"ratelimit.TestTwentyPassAtOnceThenOneASecond", "ratelimit.TestACounterAloneIsExact", "ratelimit.TestCountersTogetherAreHalfABurstAheadAtMost",
			"ratelimit.TestABurstFromManyProcessesIsCountedOnce", "front.TestEachDoorHasItsOwnCount").lines("rate"),
		shown("8", "All credentials of a workspace have five budgets together, and each message of an array counts",
			"ratelimit.TestTenKeysOfAWorkspaceAreFiveBudgets", "ratelimit.TestProcessesHoldAWorkspacesLimitTogether", "agent.TestEachMessageOfAnArrayCounts"),
		shown("8", "Parts of projects have a limit of their own, and are bounded in size, number and storage",
			"api.TestPartsHaveALimitOfTheirOwn", "api.TestBadPartsMeetTheirCode", "intake.TestAWorkspaceHasSoManyPartsWithoutAProject"),
		shown("8", "The bounds of a webhook's address and secret", "api.TestAWebhookIsNamedAtTheUpload", "api.TestBadRequestsMeetTheirCode").lines("webhook_url", "webhook_secret"),
		shown("8", "A frame has the time that limits and each quote say, and no more", "operator.TestLimitsSayWhatTheFlagsSay", "api.TestQuoteStandsAtBothPlaces",
			"worker.TestAFrameMayTakeTheTimeThatTheServerSays", "blender.TestAFileWithoutEndFailsItsJob", "blender.TestAFrameThatTakesTooLongEnds"),
		shown("8", "A key's name has 1 to 80 characters", "api.TestKeyNamesAreBounded", "identity.TestNamesAndNumbersOfKeysAreBounded").lines("key name"),
		shown("8", "The newest results are 25, at most 100", "api.TestTheNewestAre25UnlessAskedOtherwise", "api.TestAnEmptyLeaderboardSaysSo").lines("newest benchmark results"),
		shown("8", "A completed frame costs 1 cent, and what is not completed costs nothing",
			"api.TestTheOlderFlowLeadsToTheSameResults", "money.TestAFrameThatCannotBeRenderedFailsItsJobAndGivesTheMoneyBack").lines("price"),
	}
}
