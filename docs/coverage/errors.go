package coverage

// errorAnswers are spec 7.
func errorAnswers() []Rule {
	return []Rule{
		shown("7", "Every error has the one body, misses and panics too; unknown causes stay inside",
			"front.TestMissesAndPanicsWearTheEnvelope", "front.TestAnUnknownErrorIsLoggedOnceAndToldByItsRequestID", "fault.TestEveryCodeStandsOnceAndSaysWhatToDo",
			"api.TestTheDocumentHasThePublishedShapes"),
		shown("7", "A wrong request", "api.TestBadRequestsMeetTheirCode", "api.TestBadRendersMeetTheirCode", "api.TestKeyNamesAreBounded").lines("400"),
		shown("7", "No valid key, no session", "api.TestEveryRouteLetsInWhomItSaysAndNobodyElse").lines("401"),
		shown("7", "No such render, no such key", "api.TestBadRequestsMeetTheirCode", "api.TestKeysOfOthersAndOfOtherKindsAreNotFound").lines("404"),
		shown("7", "Not cancellable, too many active keys", "api.TestTheOlderFlowLeadsToTheSameResults", "api.TestAnEleventhActiveKeyIsRefusedUntilOneIsRevoked").lines("409"),
		shown("7", "An upload above the cap", "clients.TestTheLargestUploadPassesAndOneByteMoreLeavesNothing").lines("413"),
		shown("7", "An upload that is no form", "api.TestBadRendersMeetTheirCode").lines("415"),
		shown("7", "Too many requests, and when to come back", "front.TestARefusedClientIsToldWhenToComeBack", "api.TestAClientBeyondItsRateIsRefused").lines("429"),
	}
}
