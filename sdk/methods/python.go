package main

import (
	"fmt"
	"strings"
)

// pythonPath is where a method asks, and what it is told for that.
func pythonPath(m method) (path, params string) {
	parts, ids := m.pathParts()
	path = fmt.Sprintf("%q", parts[0])
	if len(ids) > 0 {
		var quoted []string
		for _, id := range ids {
			params += ", " + id + ": str"
			quoted = append(quoted, "quoted("+id+`, safe="")`)
		}
		path = fmt.Sprintf("%q %% ", strings.Join(parts, "%s")) + quoted[0]
		if len(quoted) > 1 {
			path = fmt.Sprintf("%q %% (%s)", strings.Join(parts, "%s"), strings.Join(quoted, ", "))
		}
	}
	switch {
	case m.of != "" && m.path == "":
		return fmt.Sprintf("self._%[1]s(%[1]s_id)", m.of), fmt.Sprintf(", %s_id: str", m.of)
	case m.of != "":
		return fmt.Sprintf("self._%[1]s(%[1]s_id, %[2]s)", m.of, path), fmt.Sprintf(", %s_id: str%s", m.of, params)
	case m.accountPath != "":
		return fmt.Sprintf("self._either(%q, %s)", m.accountPath, path), params
	}
	return path, params
}

// pythonSent is what a method sends, with a comma before it, and the parameters for that.
func pythonSent(m method) (sent, params string) {
	var members []string
	named, optional := "", false
	for _, v := range m.body {
		members = append(members, fmt.Sprintf("%q: %s", v.sentAs(), v.name))
		if v.optional {
			named += fmt.Sprintf(", %s: Optional[%s] = None", v.name, v.inPython)
			optional = true
		} else {
			params += fmt.Sprintf(", %s: %s", v.name, v.inPython)
		}
	}
	switch {
	case len(m.body) == 0:
		return "", ""
	case optional:
		return ", _given({" + strings.Join(members, ", ") + "})", params + ", *" + named
	}
	return ", {" + strings.Join(members, ", ") + "}", params
}

func pythonDoc(doc string) string { return strings.Join(wrapped(doc, 84), "\n        ") }

func pythonMethod(m method) string {
	path, params := pythonPath(m)
	kind := m.inPython
	if m.key != "" {
		filters, named := "{}", ", *"
		for _, q := range m.query {
			named += fmt.Sprintf(", %s: Optional[%s] = None", q.name, q.inPython)
			filters = fmt.Sprintf("_given({%q: %s})", q.sentAs(), q.name)
		}
		pages := fmt.Sprintf("self._pages(%s, %q, %q, %s, limit)", path, m.member, m.key, filters)
		if kind != anything {
			pages = fmt.Sprintf("cast(\"Iterator[%s]\", %s)", kind, pages)
		}
		return fmt.Sprintf("    def %s(self%s%s, limit: int = 0) -> Iterator[%s]:\n        \"\"\"%s\"\"\"\n        return %s\n",
			m.name, params, named, kind, pythonDoc(m.doc), pages)
	}
	sent, sentParams := pythonSent(m)
	params += sentParams
	if m.once || m.verb == "DELETE" { // a repetition finds nothing to delete
		sent += ", once=True"
	}
	if m.keyed {
		sent += ", idempotency_key=secrets.token_hex(16)"
	}
	answer := fmt.Sprintf("self._transport.json(%q, %s%s)", m.verb, path, sent)
	if m.member != "" {
		answer += fmt.Sprintf("[%q]", m.member)
	}
	if strings.Contains(kind, "[") {
		kind = `"` + kind + `"`
	}
	if m.inPython != anything {
		answer = fmt.Sprintf("cast(%s, %s)", kind, answer)
	}
	return fmt.Sprintf("    def %s(self%s) -> %s:\n        \"\"\"%s\"\"\"\n        return %s\n",
		m.name, params, m.inPython, pythonDoc(m.doc), answer)
}

// pythonAsync is the method of AsyncClient.
func pythonAsync(m method) string {
	_, params := pythonPath(m)
	_, sent := pythonSent(m)
	params += sent
	if m.key != "" {
		params += ", *"
		for _, q := range m.query {
			params += fmt.Sprintf(", %s: Optional[%s] = None", q.name, q.inPython)
		}
		params += ", limit: int = 0"
	}
	var passed []string
	named := false
	for _, p := range strings.Split(params, ", ")[1:] {
		name, _, _ := strings.Cut(p, ":")
		switch {
		case p == "*":
			named = true
		case strings.Contains(p, ":") && named:
			passed = append(passed, name+"="+name)
		case strings.Contains(p, ":"):
			passed = append(passed, name)
		}
	}
	call := fmt.Sprintf("lambda client: client.%s(%s)", m.name, strings.Join(passed, ", "))
	if m.key != "" {
		return fmt.Sprintf("    async def %s(self%s) -> AsyncIterator[%s]:\n        \"\"\"Client.%[1]s.\"\"\"\n        async for item in self._each(%[4]s):\n            yield item\n",
			m.name, params, m.inPython, call)
	}
	return fmt.Sprintf("    async def %s(self%s) -> %s:\n        \"\"\"Client.%[1]s.\"\"\"\n        return await self._run(%[4]s)\n", m.name, params, m.inPython, call)
}
