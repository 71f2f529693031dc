package agent

import (
	"encoding/json"
	"fmt"
)

// next is the next call, for callers that read fields alone.
type next struct {
	Tool             *toolName `json:"next_tool" jsonschema:"The tool to call next; null when nothing is left to call."`
	Arguments        arguments `json:"next_arguments" jsonschema:"What to call it with. A required argument that is not here is yours to decide."`
	PollAfterSeconds *seconds  `json:"poll_after_seconds" jsonschema:"How long to wait before that call; null when there is no need to."`
}

// step is next with words.
type step struct {
	SuggestedAction string `json:"suggested_action" jsonschema:"What to do next, in words."`
	next
}

// pollSoon is how soon to look again at what moves quickly.
const pollSoon = 2

func after(n int) *seconds {
	s := seconds(n)
	return &s
}

// call is the step whose next call is tool.
func call(tool toolName, with arguments, action string, args ...any) step {
	return step{fmt.Sprintf(action, args...), next{Tool: &tool, Arguments: with}}
}

// wait is the step with a delay of n seconds before it.
func (s step) wait(n int) step {
	s.PollAfterSeconds = after(n)
	return s
}

// done is the step after the last call.
func done(action string, args ...any) step {
	return step{fmt.Sprintf(action, args...), next{Arguments: arguments{}}}
}

// text is the next call in one line; "" when there is none.
func (n next) text() string {
	if n.Tool == nil {
		return ""
	}
	with, err := json.Marshal(n.Arguments)
	if err != nil {
		return ""
	}
	line := fmt.Sprintf("Next: %s %s", *n.Tool, with)
	if n.PollAfterSeconds != nil {
		line += fmt.Sprintf(" after %d seconds", *n.PollAfterSeconds)
	}
	return line + "."
}
