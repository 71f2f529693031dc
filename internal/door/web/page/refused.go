package page

import (
	"strings"

	"svc.example/internal/ground/fault"
)

// Refused is the status and the text of a page that refuses a form: about a field, by the name
// that readers know.
func Refused(err error) (status int, problem *fault.Wire) {
	status, envelope := fault.Envelope(err, "")
	problem = &envelope.Error
	if wrong, ok := problem.Detail.([]fault.FieldDetail); ok {
		problem.Message = fieldName(wrong[0].Location) + " " + wrong[0].Message + "."
	}
	return status, problem
}

// fieldNames begin sentences about the fields of forms.
var fieldNames = map[string]string{
	"below": "The balance for the warning", "cents": "The amount", "days": "The number of days", "email": "The e-mail address",
	"hours": "The number of hours", "limit": "The monthly limit",
}

// fieldName is a field as a sentence about it begins. A location is written as in
// fault.Field.
func fieldName(location string) string {
	name := location[strings.LastIndexByte(location, '.')+1:]
	if text, ok := fieldNames[name]; ok {
		return text
	}
	return "The " + strings.ReplaceAll(name, "_", " ")
}
