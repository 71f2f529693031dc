package console

import (
	"net/url"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
)

// jobsFilter is which jobs a page of the list shows. Its address has all of it, so that a
// bookmark keeps it.
type jobsFilter struct {
	// Status is the state that is shown; "" for all.
	Status string
	// Search is what the search field has.
	Search                        string
	Tag, From, To, Person, Frames string
}

// stateTabs are the states that the list can be narrowed to, by their names.
func stateTabs() []struct{ name, status string } {
	return []struct{ name, status string }{
		{"All", ""}, {"Queued", string(job.Queued)}, {"Rendering", string(job.Rendering)}, {"Completed", string(job.Completed)},
		{"Failed", string(job.Failed)}, {"Cancelled", string(job.Cancelled)},
	}
}

// readFilter reads the filter of an address. A state that does not exist is none.
func readFilter(q url.Values) (f jobsFilter) {
	field := func(name string) string { return strings.TrimSpace(page.CutQuery(q.Get(name))) }
	f = jobsFilter{Search: field("q"), Tag: field("tag"), From: field("from"), To: field("to"), Person: field("person"), Frames: field("frames")}
	if status := job.Status(q.Get("status")); status.Known() {
		f.Status = string(status)
	}
	return f
}

// values are the filter as parameters of an address.
func (f jobsFilter) values() url.Values {
	at := url.Values{}
	for name, value := range map[string]string{"status": f.Status, "q": f.Search, "tag": f.Tag, "from": f.From, "to": f.To, "person": f.Person, "frames": f.Frames} {
		if value != "" {
			at.Set(name, value)
		}
	}
	return at
}

// path is the address of the list with the filter.
func (f jobsFilter) path() string {
	return strings.TrimSuffix(page.ConsolePath+"?"+f.values().Encode(), "?")
}

// Query is the filter as an address has it after its question mark.
func (f jobsFilter) Query() string { return f.values().Encode() }

// Detailed reports whether more than words and a state narrow the list.
func (f jobsFilter) Detailed() bool { return f.Tag+f.From+f.To+f.Person+f.Frames != "" }

// Narrowed reports whether the list leaves jobs out for another reason than their state.
func (f jobsFilter) Narrowed() bool { return f.Search != "" || f.Detailed() }

// Any is the list with this state and nothing else.
func (f jobsFilter) Any() string { return jobsFilter{Status: f.Status}.path() }

// tabs are the states with the rest of the filter.
func (f jobsFilter) tabs() (tabs []page.Tab) {
	for _, t := range stateTabs() {
		other := f
		other.Status = t.status
		tabs = append(tabs, page.Tab{Name: t.name, Path: other.path(), Here: t.status == f.Status})
	}
	return tabs
}

// request is what the filter asks of the list.
func (f jobsFilter) request(workspaceID, before string) job.ListRequest {
	return job.ListRequest{
		WorkspaceID: workspaceID, Status: job.Status(f.Status), Before: before, Limit: jobsOnPage,
		Filter: job.Filter{Text: f.Search, Tag: f.Tag, From: f.From, To: f.To, Person: f.Person, Frames: f.Frames},
	}
}

// unreadable says why a filter cannot be read; nil for any other error, and for none.
func unreadable(err error) *fault.Wire {
	if !fault.Is(err, fault.InvalidRequest) {
		return nil
	}
	_, problem := page.Refused(err)
	return problem
}

// tagLink is a tag of a job, and the list of the jobs that have it.
type tagLink struct{ Name, Path string }

// TagLinks are the job's tags.
func (j jobRow) TagLinks() (all []tagLink) {
	for _, tag := range j.Tags {
		all = append(all, tagLink{tag, jobsFilter{Tag: tag}.path()})
	}
	return all
}

// TagText is the job's tags as a field has them.
func (j jobRow) TagText() string { return strings.Join(j.Tags, ", ") }
