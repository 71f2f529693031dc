package coverage

// states are spec 3.
func states() []Rule {
	return []Rule{
		shown("3", "Cancel before a worker's claim cancels and gives the money back",
			"api.TestCancellingAnUnsubmittedRenderReleases", "money.TestCancelAndClaimHaveOneWinner").lines("any before a worker's claim"),
		shown("3", "Cancel after a worker's claim changes nothing and answers 409",
			"money.TestCancelAndClaimHaveOneWinner", "api.TestTheOlderFlowLeadsToTheSameResults").lines("any after a worker's claim"),
		shown("3", "A job that ends emits its event to its webhook", "clients.TestRealReceiversVerifyWhatIsSent", "processes.TestNothingIsLostWhereverTheServerIsKilled"),
		shown("3 rule 1", "Inspect and quote spend nothing and reserve nothing", "api.TestInspectAndQuoteSpendNothing"),
		shown("3 rule 2", "Start reserves the locked price, once",
			"money.TestStartingAQuoteManyTimesAtOnceIsOneJobAndOneReserve", "money.TestTooLittleMoneyReservesNothing"),
		shown("3 rule 3", "The older upload reserves; without a submit the money comes back",
			"api.TestTheOlderFlowLeadsToTheSameResults", "money.TestAnUploadNobodySubmitsGivesItsMoneyBack"),
		shown("3 rule 4", "Download, receipt and proof answer 409 until the job is completed", "api.TestResultsAreForCompletedJobs"),
	}
}
