package measure

import "fmt"

// For the tests of this package.
var (
	Reduce         = reduce
	Compare        = compare
	ReadSMI        = readSMI
	InspectMachine = inspectMachine
	SamplesOf      = samplesOf
)

func (c comparison) Difference() float64 { return c.difference }

func (m machine) Text() string {
	return fmt.Sprintf("%s, %s bytes, %s", m.cpu, textOf(m.ram), m.system)
}

// TextOf writes down what is known of each GPU.
func TextOf(gpus []gpu) (texts []string) {
	for _, g := range gpus {
		texts = append(texts, fmt.Sprintf("%s %s %s", g.name, g.driver, textOf(g.memory)))
	}
	return texts
}

func textOf(size *int64) string {
	if size == nil {
		return "unknown"
	}
	return fmt.Sprint(*size)
}
