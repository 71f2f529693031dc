package metrics_test

import (
	"strings"
	"testing"
)

// monitoring is the component for clusters with the Prometheus operator.
const monitoring = root + "deploy/kubernetes/components/monitoring/"

// TestTheOperatorOfPrometheusGetsTheSameRules: the component has the groups of svc.rules.yml,
// indented, and nothing else.
func TestTheOperatorOfPrometheusGetsTheSameRules(t *testing.T) {
	t.Parallel()
	_, groups, _ := strings.Cut(read(t, rules), "\ngroups:\n")
	_, spec, _ := strings.Cut(read(t, monitoring+"rules.yaml"), "\nspec:\n  groups:\n")
	var want strings.Builder
	for line := range strings.Lines(groups) {
		if line != "\n" {
			line = "  " + line
		}
		want.WriteString(line)
	}
	if groups == "" || spec != want.String() {
		t.Error("components/monitoring/rules.yaml does not have the groups of deploy/prometheus/svc.rules.yml, two blanks further in")
	}
}

// TestPrometheusFindsWhatTheManifestsServe: the ports, labels and namespaces that it asks for are
// those of the manifests, its jobs have the names that the rules expect, and the network policies
// let it in.
func TestPrometheusFindsWhatTheManifestsServe(t *testing.T) {
	t.Parallel()
	scrape := read(t, monitoring+"scrape.yaml")
	service, workers := root+"deploy/kubernetes/base/service/", root+"deploy/kubernetes/base/workers/"
	for _, has := range []struct{ text, part string }{
		{scrape, "namespace: svc\n"}, {read(t, service+"namespace.yaml"), "name: svc\n"},
		{scrape, "matchLabels: {app: svc} #"}, {read(t, service+"service.yaml"), "name: svc-metrics\n  labels: {app: svc}"},
		{scrape, "port: metrics"}, {read(t, service+"service.yaml"), "{name: metrics, port: 9100, targetPort: metrics}"},
		{read(t, service+"network.yaml"), "port: 9100"}, {scrape, "{targetLabel: job, replacement: svc}"},
		{scrape, "namespace: svc-workers\n"}, {read(t, workers+"namespace.yaml"), "name: svc-workers\n"},
		{scrape, "matchLabels: {app: svc-autoscale}"}, {read(t, workers+"autoscale.yaml"), "{name: metrics, containerPort: 9101}"},
		{read(t, workers+"network.yaml"), "port: 9101"}, {scrape, "{targetLabel: job, replacement: svc-autoscale}"},
	} {
		if !strings.Contains(has.text, has.part) {
			t.Errorf("%q is missing", has.part)
		}
	}
}
