package agent

import (
	"encoding/json"
	"fmt"
)

// nextCall is the next tool call, for agents that read fields and no prose. It
// is part of every result and of every refusal, so that an agent never has to
// guess the order of the tools.
type nextCall struct {
	Tool             *toolName `json:"next_tool" jsonschema:"The tool to call next; null when nothing is left to call."`
	Arguments        arguments `json:"next_arguments" jsonschema:"What to call it with. A required argument that is not here is yours to decide."`
	PollAfterSeconds *seconds  `json:"poll_after_seconds" jsonschema:"How long to wait before that call; null when there is no need to."`
}

// step is a nextCall with a sentence that says the same in words. Each
// successful result embeds one.
type step struct {
	SuggestedAction string `json:"suggested_action" jsonschema:"What to do next, in words."`
	nextCall
}

// pollSoon is the shortest poll interval, in seconds. It is for work that
// usually ends within seconds: fetching a file, packing a ZIP.
const pollSoon = 2

// pollAfter returns n seconds as a pointer, as the JSON member wants it.
func pollAfter(n int) *seconds {
	s := seconds(n)
	return &s
}

// call returns the step whose next call is tool, with the given arguments.
// action and args are a format string and its values.
func call(tool toolName, with arguments, action string, args ...any) step {
	return step{fmt.Sprintf(action, args...), nextCall{Tool: &tool, Arguments: with}}
}

// wait returns the step with a delay of n seconds before its next call.
func (s step) wait(n int) step {
	s.PollAfterSeconds = pollAfter(n)
	return s
}

// done returns a step after which nothing is left to call. The arguments are an
// empty object and not null, because the schema promises an object.
func done(action string, args ...any) step {
	return step{fmt.Sprintf(action, args...), nextCall{Arguments: arguments{}}}
}

// text writes the next call in one line, for clients that show only the text of
// a result. It returns "" when there is none.
func (n nextCall) text() string {
	if n.Tool == nil {
		return ""
	}
	with, err := json.Marshal(n.Arguments)
	if err != nil {
		return ""
	}
	line := fmt.Sprintf("Next: %s %s", *n.Tool, with)
	if n.PollAfterSeconds != nil {
		line += fmt.Sprintf(" after %d second", *n.PollAfterSeconds)
		if *n.PollAfterSeconds != 1 {
			line += "s"
		}
	}
	return line + "."
}
