package reference

import "encoding/json"

// description is what is read of an OpenAPI document.
type description struct {
	Info    struct{ Title, Version, Description string }
	Servers []struct{ URL string }
	Tags    []struct{ Name, Description string }
	Paths   map[string]map[string]operation

	Components struct {
		Schemas         map[string]schema
		Examples        map[string]example
		SecuritySchemes map[string]struct{ Description, In, Name string }
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Security                          []map[string][]string
	Parameters                        []parameter
	RequestBody                       struct{ Content map[string]media }
	Responses                         map[string]struct {
		Description string
		Content     map[string]media
	}
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                schema
}

// Type puts the parameter's schema into words.
func (p parameter) Type() any { return p.Schema.text() }

type media struct {
	Schema   schema
	Example  json.RawMessage
	Examples map[string]example
}

type example struct{ Value json.RawMessage }

type schema struct {
	Ref              string `json:"$ref"`
	Type             any    // a name, or several
	Format           string
	Description      string
	Pattern          string
	ContentMediaType string
	Enum             []json.RawMessage
	Const            json.RawMessage
	Default          json.RawMessage
	Minimum, Maximum *float64
	MinLength        *int
	MaxLength        *int
	MinItems         *int
	MaxItems         *int
	Items            *schema
	OneOf            []schema
	Properties       map[string]schema
	Required         []string

	AdditionalProperties json.RawMessage
}
