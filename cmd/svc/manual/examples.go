package manual

import "github.com/alecthomas/kong"

// Examples are command lines by the command that they show, as words separates its names. Every
// command for callers has one; operators find theirs in docs/operate.md.
func Examples() map[string][]string {
	return map[string][]string{
		"render":       {"svc render scene.blend", "svc render scene.blend --frames 1-50,80-100x5 --max-price 2.50 --yes"},
		"look":         {"svc look scene.blend --frame 12"},
		"inspect":      {"svc inspect scene.blend"},
		"diff":         {"svc diff shot_v1.blend shot_v2.blend"},
		"pack":         {"svc pack scene.blend"},
		"rerender":     {"svc rerender JOB-… --frames 3,7-9"},
		"download":     {"svc download JOB-… --out shot"},
		"preview":      {"svc preview JOB-…"},
		"movie":        {"svc movie JOB-… --out shot.mp4"},
		"sync":         {"svc sync JOB-… shot"},
		"jobs":         {"svc jobs --status rendering"},
		"job":          {"svc job JOB-…"},
		"cancel":       {"svc cancel JOB-…"},
		"pause":        {"svc pause JOB-…"},
		"resume":       {"svc resume JOB-…"},
		"priority":     {"svc priority JOB-… 80"},
		"tag":          {"svc tag JOB-… shot-010 \"client a\"", "svc tag JOB-… --none"},
		"wallet":       {"svc wallet"},
		"keys list":    {"svc keys list"},
		"keys revoke":  {"svc keys revoke key_…"},
		"login":        {"svc login --server https://render.example.com"},
		"logout":       {"svc logout"},
		"config set":   {"svc config set server https://render.example.com", "svc config set key -"},
		"config unset": {"svc config unset key"},
		"config get":   {"svc config get server"},
		"config list":  {"svc config list"},
		"config use":   {"svc config use studio"},
		"config path":  {"svc config path"},
		"status":       {"svc status"},
		"open":         {"svc open JOB-…"},
		"verify":       {"svc verify shot", "svc verify shot/receipt.json --key trusted.pem --require artifact,log"},
		"frame-proof":  {"svc frame-proof shot/receipt.json 12 --out frame-12.json"},
		"log verify":   {"svc log verify --server https://render.example.com --checkpoint remembered"},
		"log watch":    {"svc log watch https://render.example.com --state log.checkpoint"},
		"log witness":  {"svc log witness --name witness.example.org --log NAME+ID+KEY --data ./witness"},
		"log keys":     {"svc log keys https://render.example.com"},
		"mcp":          {"svc mcp --server https://render.example.com"},
		"listen":       {"svc listen --forward-to http://127.0.0.1:8000/webhooks"},
		"trigger":      {"svc trigger completed --key svc_agent_test_…", "svc trigger out_of_memory"},
		"openapi":      {"svc openapi > openapi.json"},
		"help":         {"svc help render"},
		"completion":   {"svc completion bash"},
		"version":      {"svc version"},
	}
}

// examplesOf are the command lines that show a command; those of a group show its commands.
func examplesOf(n *kong.Node) (lines []string) {
	if n.Type == kong.ApplicationNode {
		return nil
	}
	if n.Leaf() {
		return Examples()[words(n)]
	}
	for _, c := range commands(n) {
		lines = append(lines, Examples()[words(c)]...)
	}
	return lines
}

// ForCallers reports whether a command is for those who use a service, not for those who run one.
func ForCallers(n *kong.Node) bool {
	for n.Parent != nil && n.Parent.Type != kong.ApplicationNode {
		n = n.Parent
	}
	return n.Group == nil || n.Group.Title != forOperators
}
