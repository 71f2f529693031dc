package coverage

// authentication is spec 5.
func authentication() []Rule {
	const matrix = "api.TestEveryRouteLetsInWhomItSaysAndNobodyElse"
	return []Rule{
		shown("5", "A session manages keys and leads from inspect to start, on our own pages only",
			matrix, "api.TestKeysAreManagedBySessionsOnOurOwnPagesOnly", "api.TestABrowserInspectsQuotesAndStartsByItsSession", "api.TestTheSessionCookieIsForTheBrowserAlone").
			lines("browser session"),
		shown("5", "An account key opens renders and workspace, and nothing else", matrix, "identity.TestKeyWorksOnlyForItsOwnKind").lines("account key"),
		shown("5", "An agent key opens the Job API, and nothing else", matrix, "identity.TestKeyWorksOnlyForItsOwnKind").lines("agent key"),
		shown("5 rule 1", "A key's secret is shown when it is made and never again; only its hash is kept",
			"api.TestAKeysSecretIsShownOnceAndItsMetadataAlways", "identity.TestSecretsAreLongAndStoredOnlyAsHashes", "api.TestKeyNamesAreBounded"),
		shown("5 rule 2", "A revoked key is refused on the next request, by every process",
			"api.TestARevokedKeyIsRefusedOnTheNextRequestByEveryProcess", "clients.TestARevokedKeyEndsAtOnceEverywhere"),
		shown("5 rule 3", "Without a valid credential a route answers 401, before the body is read",
			matrix, "api.TestACredentialIsCheckedBeforeTheBody", "identity.TestStrangeHeadersAreUnauthenticated"),
		shown("5", "A program that a person lets in gets an agent key with a limit and an end, by OAuth 2.1",
			"oauth.TestAProgramGetsAKeyWithTheLimitThatThePersonChose", "web.TestAProgramOnThisComputerIsLetInAndListedAndEnded", "web.TestADeviceIsSignedInByItsCode", "web.TestDiscoveryLeadsFromTheToolsToTheQuestion"),
		shown("5", "An agent key ends at its time, and has its scopes and resources only",
			"identity.TestAnAgentKeyEndsAtItsTimeAndMakesRoom", "identity.TestAnAgentKeyHasItsScopesAtItsResourcesOnly"),
		shown("5", "A key of test mode opens its workspace's test world, and nothing of the real service",
			"money.TestATestKeyOpensItsOwnTestWorldAndNothingElse", "money.TestNothingOfTestModeEntersTheRealStore", "money.TestEveryTrickBringsWhatItsNameSays", "money.TestTheClockOfTestModeBringsWhatIsDue", "money.TestARealServicesKeysRefuseATestReceipt"),
		shown("5 rule 4", "Discovery is public", matrix),
		shown("5 rule 4", "The leaderboard is public and read-only", matrix, "api.TestTheLeaderboardTellsWhatReceiptsSay"),
		shown("5 rule 5", "A client of the agent tools keeps its key in its environment; the name is no part of the interface",
			"clients.TestALocalAgentSendsAndSavesFilesByTheirPaths", "agent.TestNoToolTakesACredential"),
	}
}
