package api

import (
	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
)

// tagsField is what the workspace calls a job, in each request that makes one.
const tagsField = "tags"

// tagsMember describes the tags in the JSON of POST /renders, as startInput does.
func tagsMember() *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString},
		Description: "What the workspace calls the job: at most 10 tags, each of at most 32 characters without commas; they are kept in lower case. Without them, a job that renders frames again has the tags of the earlier one.",
	}
}

// tags reads the field of that name; nil when it did not come. Error: invalid_request.
func (f *uploadForm) tags() ([]string, error) {
	text := f.texts[tagsField]
	if text == nil {
		return nil, nil
	}
	return job.SplitTags(*text)
}

// takeTags removes the tags from the members of a JSON body and reads them; nil when they did
// not come. Error: invalid_request.
func takeTags(members map[string]any) ([]string, error) {
	sent, came := members[tagsField]
	if !came {
		return nil, nil
	}
	delete(members, tagsField)
	list, is := sent.([]any)
	texts := make([]string, len(list))
	for i := range list {
		if texts[i], is = list[i].(string); !is {
			break
		}
	}
	if !is {
		return nil, fault.Field("body."+tagsField, "must be a list of texts")
	}
	return job.ReadTags(texts)
}
