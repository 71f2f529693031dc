package operation

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/work/identity"
)

// memberOperations are those by which a person renders.
var memberOperations = map[string]bool{
	"inspectUpload": true, "createProject": true, "sendPart": true, "quoteUpload": true, "startUpload": true,
	"deleteInspectedUpload": true, "previewInspectedUpload": true, "moveTestClock": true,
}

// RoleFor is the least role with which a person may call an operation. Everyone reads, and
// everyone may sign out. What changes something and is not listed takes an owner.
func RoleFor(op *huma.Operation) identity.Role {
	switch {
	case op.Method == http.MethodGet || op.OperationID == "signOut":
		return identity.Viewer
	case memberOperations[op.OperationID]:
		return identity.Member
	}
	return identity.Owner
}
