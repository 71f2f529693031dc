package main

import (
	"fmt"
	"strings"
)

// typescriptPath is where a method asks, and what it is told for that.
func typescriptPath(m method) (path, params string) {
	parts, ids := m.pathParts()
	path = fmt.Sprintf("%q", m.path)
	if len(ids) > 0 {
		path = "`" + parts[0]
		for i, id := range ids {
			params += camel(id) + ": string, "
			path += "${encodeURIComponent(" + camel(id) + ")}" + parts[i+1]
		}
		path += "`"
	}
	switch {
	case m.of != "" && m.path == "":
		return fmt.Sprintf("this.%[1]sPath(%[1]sId)", m.of), fmt.Sprintf("%sId: string, ", m.of)
	case m.of != "":
		return fmt.Sprintf("this.%[1]sPath(%[1]sId, %[2]s)", m.of, path), fmt.Sprintf("%sId: string, %s", m.of, params)
	case m.accountPath != "":
		return fmt.Sprintf("this.either(%q, %s)", m.accountPath, path), params
	}
	return path, params
}

func typescriptMethod(m method) string {
	path, params := typescriptPath(m)
	names, kinds, members := "", "", []string{}
	for _, v := range append(m.body, m.query...) {
		name := camel(v.name)
		if v.optional {
			names += name + ", "
			kinds += fmt.Sprintf(" %s?: %s;", name, v.inTypescript)
		} else {
			params += fmt.Sprintf("%s: %s, ", name, v.inTypescript)
		}
		member := v.sentAs() + ": " + name
		if v.sentAs() == name {
			member = name
		}
		members = append(members, member)
	}
	options, sent := "Call", "{ "+strings.Join(members, ", ")+" }"
	if m.key != "" {
		names += "limit, "
		kinds += " limit?: number;"
	}
	if kinds != "" {
		options = "Call & {" + strings.TrimSuffix(kinds, ";") + " }"
	}
	head := fmt.Sprintf("  /** %s */\n  %%s%s(%s{ %ssignal }: %s = {}): ", m.doc, camel(m.name), params, names, options)
	if m.key != "" {
		filters := "{}"
		if len(m.query) > 0 {
			filters = "given(" + sent + ")"
		}
		return fmt.Sprintf(head, "") + fmt.Sprintf("AsyncGenerator<%[1]s, void> {\n    return this.pages<%[2]q, %[1]s>(%[3]s, %[4]q, %[2]q, %[5]s, limit, signal);\n  }\n",
			m.inTypescript, m.key, path, m.member, filters)
	}
	asked := "signal"
	if len(m.body) > 0 {
		asked = "value: " + sent + ", " + asked
	}
	if m.once || m.verb == "DELETE" { // a repetition finds nothing to delete
		asked = "once: true, " + asked
	}
	if m.keyed {
		asked = "idempotencyKey: newKey(), " + asked
	}
	answer := fmt.Sprintf("return this.transport.json(%q, %s, { %s });", m.verb, path, asked)
	if m.member != "" {
		answer = fmt.Sprintf("return (await this.transport.json<Schemas[%q]>(%q, %s, { %s })).%s;", m.schema, m.verb, path, asked, m.member)
	}
	return fmt.Sprintf(head, "async ") + fmt.Sprintf("Promise<%s> {\n    %s\n  }\n", m.inTypescript, answer)
}
