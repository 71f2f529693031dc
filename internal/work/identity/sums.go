package identity

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The rows of this package carry checksums: whose a key, a session or an address is
// cannot be derived from anything else. A sum covers the whole row but a key's last
// use, which changes with every minute of work.
var (
	workspaces    = rowsum.Table[query.Workspace]{Name: "workspace", Key: 1, Later: []string{"ArtifactDays", "DailyCents", "Tags", "FramesAtOnce"}}
	people        = rowsum.Table[query.Person]{Name: "person", Key: 1}
	logins        = rowsum.Table[query.PersonLogin]{Name: "person_login", Key: 2, Later: []string{"VouchedAt"}}
	accountKeys   = rowsum.Table[query.AccountKey]{Name: "account_key", Key: 1, Except: []string{"LastUsedAt"}, Later: []string{"MadeBy"}}
	agentKeys     = rowsum.Table[query.AgentKey]{Name: "agent_key", Key: 1, Except: []string{"LastUsedAt"}, Later: []string{"MadeBy"}}
	nodeKeys      = rowsum.Table[query.NodeKey]{Name: "node_key", Key: 1, Except: []string{"LastUsedAt"}}
	operatorKeys  = rowsum.Table[query.OperatorKey]{Name: "operator_key", Key: 1, Except: []string{"LastUsedAt"}}
	sessions      = rowsum.Table[query.Session]{Name: "session", Key: 1, Later: []string{"WorkspaceID"}}
	invitations   = rowsum.Table[query.Invitation]{Name: "invitation", Key: 1}
	members       = rowsum.Table[query.Member]{Name: "member", Key: 2}
	memberLimits  = rowsum.Table[query.MemberLimit]{Name: "member_limit", Key: 2}
	memberDomains = rowsum.Table[query.MemberDomain]{Name: "member_domain", Key: 1}
	membersLeft   = rowsum.Table[query.MemberLeft]{Name: "member_left", Key: 2}
	operators     = rowsum.Table[query.Operator]{Name: "operator", Key: 1}
	signInLinks   = rowsum.Table[query.SignInLink]{Name: "sign_in_link", Key: 1}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{workspaces, people, logins, accountKeys, agentKeys, nodeKeys, operatorKeys, sessions, signInLinks, operators, members, memberLimits, memberDomains, membersLeft, invitations}
