package agent

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/plainjson"
)

// plainNumber is an id that the MCP library answers with as it came. It reads numbers as
// floating point ones and cuts fractions off.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})$`)

// isID matches a text or a number, which alone can be ids.
var isID = regexp.MustCompile(`^["0-9-]`)

// givenIDs are ids as callers wrote them, by the text of the number that stands for each.
type givenIDs map[string]json.RawMessage

// firstID is the first number that stands for an id. A body that has such a number of its own
// is not likely; then that one is given back as well, which changes nothing.
const firstID = 900_000_000_000_000

// plainIDs puts plain numbers in the place of ids that the library would change. ids is nil
// where there are none.
func plainIDs(body []byte) (plain []byte, ids givenIDs) {
	replace := func(message map[string]json.RawMessage) bool {
		id := message["id"]
		if len(id) == 0 || id[0] != '-' && (id[0] < '0' || id[0] > '9') || plainNumber.Match(id) {
			return false
		}
		if ids == nil {
			ids = givenIDs{}
		}
		number := strconv.Itoa(firstID + len(ids))
		ids[number], message["id"] = id, json.RawMessage(number)
		return true
	}
	return eachMessage(body, replace), ids
}

// back puts the ids back.
func (ids givenIDs) back(body []byte) []byte {
	return eachMessage(body, func(message map[string]json.RawMessage) bool {
		id, given := ids[string(message["id"])]
		if given {
			message["id"] = id
		}
		return given
	})
}

// eachMessage changes the messages of a body, one or an array. What is not changed, and what
// is no message, stays byte for byte.
func eachMessage(body []byte, change func(map[string]json.RawMessage) bool) []byte {
	var one map[string]json.RawMessage
	if json.Unmarshal(body, &one) == nil && one != nil {
		if change(one) {
			return unescaped(one)
		}
		return body
	}
	var all []json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return body
	}
	changed := false
	for i, message := range all {
		var one map[string]json.RawMessage
		if json.Unmarshal(message, &one) == nil && change(one) {
			all[i], changed = unescaped(one), true
		}
	}
	if !changed {
		return body
	}
	return unescaped(all)
}

// requestID is the id of a body that is one request; nil for anything else.
func requestID(body []byte) json.RawMessage {
	var one struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(body, &one) != nil || one.Method == "" || !isID.Match(one.ID) {
		return nil
	}
	return one.ID
}

// mostRefused bounds a message that is read only to refuse it, in bytes.
const mostRefused = 64 << 10

// Answer answers a call of a tool that a limit refuses as the tool would, since a model reads
// results and hardly ever HTTP statuses. It reports whether it has; anything else is answered
// as by the API.
func Answer(w http.ResponseWriter, r *http.Request, err error) bool {
	if r.Method != http.MethodPost || fault.Of(err) != fault.RateLimited {
		return false
	}
	body, readErr := io.ReadAll(io.LimitReader(r.Body, mostRefused))
	id := requestID(body)
	var call struct {
		Method string                `json:"method"`
		Params mcp.CallToolParamsRaw `json:"params"`
	}
	if readErr != nil || id == nil || json.Unmarshal(body, &call) != nil || call.Method != "tools/call" || call.Params.Name == "" {
		return false
	}
	sent, unread := argumentsOf(call.Params.Arguments)
	if unread != nil {
		sent = arguments{}
	}
	w.Header().Set("Content-Type", "application/json")
	message := map[string]any{"jsonrpc": "2.0", "id": id, "result": refuse(err, w.Header().Get(fault.RequestIDHeader), toolName(call.Params.Name), sent)}
	_ = plainjson.Write(w, message) // a failed write means the caller is gone
	return true
}
