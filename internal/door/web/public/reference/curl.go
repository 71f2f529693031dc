package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// variable finds a placeholder of a path, such as {job_id}.
var variable = regexp.MustCompile(`\{([a-z0-9_]+)\}`)

// shellWord turns a placeholder into a shell variable: job_id becomes $JOB_ID.
// A copied command then fails visibly instead of calling a path with braces.
func shellWord(name string) string { return "$" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// curl writes the call as a command: the first credential, the required query
// parameters, and the example's body.
func (d description) curl(server string, c call) string {
	command := "curl"
	if c.Method != "GET" && (c.Method != "POST" || len(c.Bodies) == 0) { // what is sent makes it a POST
		command += " -X " + c.Method
	}
	if slices.ContainsFunc(c.Answers, func(a body) bool { return a.Media == "text/event-stream" }) {
		command += " -N"
	}
	address := server + variable.ReplaceAllStringFunc(c.Path, func(m string) string { return shellWord(m[1 : len(m)-1]) })
	mark := "?"
	for _, p := range c.Parameters {
		if p.In == "query" && p.Required {
			address += mark + p.Name + "=" + shellWord(p.Name)
			mark = "&"
		}
	}
	lines := []string{command + ` "` + address + `"`}
	if len(c.Takes) > 0 {
		lines = append(lines, d.shows(c.Takes[0]))
	}
	return strings.Join(append(lines, c.sends()...), " \\\n  ")
}

// shows returns the argument that sends a credential.
func (d description) shows(id string) string {
	if s := d.Components.SecuritySchemes[id]; s.In == "cookie" {
		return `-b "` + s.Name + `=$SVC_SESSION"`
	}
	return `-H "Authorization: Bearer ` + credentialWord + `"`
}

// sends returns the arguments for the body. If there are several forms, a file
// comes first: how to send it is hardest to guess.
func (c call) sends() []string {
	for _, b := range slices.Backward(c.Bodies) {
		switch b.Media {
		case "multipart/form-data":
			return []string{"-F file=@scene.blend"}
		case "application/x-www-form-urlencoded":
			var out []string
			for _, f := range b.Fields {
				out = append(out, fmt.Sprintf(`-d "%s=%s"`, f.Name, shellWord(f.Name)))
			}
			return out
		case "application/json":
			var flat bytes.Buffer
			if json.Compact(&flat, []byte(b.Example)) != nil {
				continue // it has no example
			}
			return []string{`-H "Content-Type: application/json"`, "-d '" + flat.String() + "'"}
		}
	}
	return nil
}
