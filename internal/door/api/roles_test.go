package api_test

import (
	"net/http"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
)

// renders are the operations that a member may call besides those that read.
var renders = []string{"inspectUpload", "createProject", "sendPart", "quoteUpload", "startUpload", "deleteInspectedUpload", "previewInspectedUpload", "moveTestClock"}

// own are the operations that everyone may call, because they change only what is their own.
var own = []string{"signOut", "saveFilter", "changeFilter", "deleteFilter"}

// asRoles asks an operation as a person of each role in the owner's workspace, and returns the
// cells of the matrix: a role that is too small is refused before anything else is looked at. The
// owner has called everything already.
func (w *world) asRoles(op operation) (cells []string) {
	w.t.Helper()
	for _, role := range []identity.Role{identity.Viewer, identity.Member} {
		if !slices.Contains(op.takes, sessionKind) {
			cells = append(cells, "-")
			continue
		}
		may := op.method == http.MethodGet || slices.Contains(own, op.id) || (role == identity.Member && slices.Contains(renders, op.id))
		got, _ := w.ask(op, sessionKind, w.roles[role], false)
		if refused := got.code == fault.InsufficientRole; refused == may || (refused && got.status != http.StatusForbidden) || !got.letIn() {
			w.t.Errorf("%s by a person with the role %s: %s %s", op.id, role, got, got.code)
		}
		cell := "yes"
		if !may {
			cell = "403"
		}
		cells = append(cells, cell)
	}
	if slices.Contains(op.takes, sessionKind) {
		return append(cells, "yes")
	}
	return append(cells, "-")
}

// join brings a person of each role into the owner's workspace.
func (w *world) join() {
	w.t.Helper()
	var owner identity.Person
	err := w.app.DB.Write(w.t.Context(), func(tx *db.Tx) (err error) {
		owner, err = identity.CreateWorkspace(w.t.Context(), tx, w.service.owner)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.roles = map[identity.Role]string{}
	for _, role := range []identity.Role{identity.Viewer, identity.Member} {
		w.roles[role] = apptest.Join(w.t, w.app.DB, owner.WorkspaceID, string(role)+"@example.com", role)
	}
}
