package links

// Paths of the service that addresses lead to. Those that end in a slash are
// followed by an id. Routes are registered under these same constants.
const (
	RendersPath     = "/v1/renders"         // the older flow's jobs (spec 4.1)
	NodeJobsPath    = "/node/v1/jobs"       // the Job API's jobs (spec 4.3)
	PartsPath       = "/node/v1/parts/"     // parts of projects, by SHA-256
	SigningKeysPath = "/v1/signing-keys"    // what receipts are checked with
	StripePath      = "/v1/payments/stripe" // events of the payment provider
	TermsPath       = "/terms"              // what legal_acceptance accepts
	WalletPath      = "/console/wallet"     // a person's money
	MembersPath     = "/console/members"    // the people of a workspace
	InvitationPath  = "/console/invitation" // what the mail of an invitation opens
	DownloadPath    = "/v1/artifacts/"      // signed downloads, by job id

	NoticesPath      = "/notices/"     // ends mails about jobs, by person id
	PreviewImagePath = "/v1/previews/" // signed pictures of uploads, by preview id

	SignInPath         = "/v1/auth/callback" // what a sign-in link opens
	OpenIDPath         = "/v1/auth/oidc"
	OpenIDStartPath    = OpenIDPath + "/start"    // where signing in by an OpenID Connect issuer begins
	OpenIDCallbackPath = OpenIDPath + "/callback" // where an OpenID Connect issuer sends browsers back to

	AgentPath        = "/mcp"                     // the tools for agents
	UploadPath       = AgentPath + "/uploads/"    // signed uploads, by upload id
	ServerCardPath   = AgentPath + "/server-card" // how agents connect
	RegistryPath     = AgentPath + "/server.json" // the same, as the public registry takes it
	LLMsPath         = "/llms.txt"                // the service in words, for agents
	OpenAPIPath      = "/openapi.json"            // every HTTP route
	GuidePath        = "/guide"                   // the documents for people
	DocsPath         = "/docs"                    // the same, for people
	SDKPath          = "/sdk/"                    // the packages of the SDKs, by file name
	IconPath         = "/favicon.ico"             // also where browsers look that have read no page
	GoProxyPath      = "/sdk/go/"                 // the Go SDK, for the go command
	ProgramsPath     = "/download"                // the program for each platform
	AddOnPath        = "/blender/"                // the extension repository with the add-on for Blender
	CapabilitiesPath = "/v1/capabilities"         // renderer, availability, workflow
	PricingPath      = "/v1/pricing"              // the price list
	LimitsPath       = "/v1/limits"               // upload, frame and request limits

	AuthorizePath = "/oauth/authorize" // where a person answers a program
	TokenPath     = "/oauth/token"
	RevokePath    = "/oauth/revoke"
	RegisterPath  = "/oauth/register" // where programs register themselves, if they may
	DevicePath    = "/oauth/device"   // where a device begins, and where its code is typed
	IssuerPath    = "/.well-known/oauth-authorization-server"
	ResourcePath  = "/.well-known/oauth-protected-resource"

	ProofPath       = "/proof/"              // a page that checks one receipt, by receipt id
	SharePath       = "/s/"                  // a job's public page, by the token of its link
	LeaderboardPath = "/leaderboard"         // the benchmark results
	ComparePath     = "/leaderboard/compare" // two GPUs side by side
	GPUPath         = "/leaderboard/gpu/"    // one GPU, by slug
	ResultPath      = "/leaderboard/result/" // one result, by result id
)
