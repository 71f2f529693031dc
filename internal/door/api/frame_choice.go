package api

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/quote"
)

// frameChoice is the member frames of a request (decisions 27): a text such as
// "1-20,30-60x2", or a list of numbers.
type frameChoice string

// UnmarshalJSON turns a list of numbers into its text, so that both forms are read and
// refused by the same rule.
func (c *frameChoice) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		err := json.Unmarshal(data, &text)
		*c = frameChoice(text)
		return err
	}
	var numbers []int
	if err := json.Unmarshal(data, &numbers); err != nil {
		return err
	}
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	*c = frameChoice(strings.Join(words, ","))
	return nil
}

// Schema describes both forms.
func (frameChoice) Schema(huma.Registry) *huma.Schema {
	one, most := 1, contract.MaxFrames
	return &huma.Schema{
		OneOf: []*huma.Schema{
			{Type: huma.TypeString},
			{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeInteger}, MinItems: &one, MaxItems: &most},
		},
		Examples: []any{"1-50,80-100x5"},
	}
}

// choose returns the frames that a JSON request names; c is nil where it has no such
// member. Errors: those of quote.Chosen.
func (c *frameChoice) choose(start, end, step *int) (quote.RequestedFrames, error) {
	return quote.Chosen((*string)(c), quote.RequestedFrames{Start: start, End: end, Step: step})
}
