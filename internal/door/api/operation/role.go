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

// ownOperations change only what is the person's own.
var ownOperations = map[string]bool{"signOut": true, "saveFilter": true, "changeFilter": true, "deleteFilter": true}

// RoleFor is the least role with which a person may call an operation. Everyone reads, and
// changes what is their own. What changes something else and is not listed takes an owner.
func RoleFor(op *huma.Operation) identity.Role {
	switch {
	case op.Method == http.MethodGet || ownOperations[op.OperationID]:
		return identity.Viewer
	case memberOperations[op.OperationID]:
		return identity.Member
	}
	return identity.Owner
}
