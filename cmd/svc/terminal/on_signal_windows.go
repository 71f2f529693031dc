package terminal

import "errors"

// OnSignal refuses every signal: Windows has none that a worker could be sent.
func OnSignal(name string) (<-chan struct{}, error) {
	if name == "" {
		return nil, nil
	}
	return nil, errors.New("windows has no such signals")
}
