package reference

import "encoding/json"

// description is the part of an OpenAPI document that the page shows. Member
// names match without tags, because encoding/json ignores case.
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

// operation is one method of a path.
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

// parameter is a path, query or header parameter.
type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                schema
}

// Type returns the parameter's type in words, for the template.
func (p parameter) Type() any { return p.Schema.text() }

// media is a body in one media type.
type media struct {
	Schema   schema
	Example  json.RawMessage
	Examples map[string]example
}

// example is a named example, as errors have them.
type example struct{ Value json.RawMessage }

// schema is a JSON Schema, as far as the service's document uses it.
type schema struct {
	Ref string `json:"$ref"`
	// Type is a string, or a list of strings where null is allowed.
	Type             any
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

	// AdditionalProperties is a schema for maps, or false; so it is decoded
	// later.
	AdditionalProperties json.RawMessage
}
