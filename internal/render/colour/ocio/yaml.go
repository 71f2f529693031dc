package ocio

import (
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// target is what an alias of YAML stands for; any other node stands for itself. Aliases of
// aliases do not exist.
func target(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

// stands is how many values a node stands for, with what its aliases repeat: more than maxValues
// where one repeats itself. known keeps what was counted.
func stands(node *yaml.Node, known map[*yaml.Node]int) int {
	if n, ok := known[node]; ok {
		return n
	}
	known[node] = maxValues + 1 // while it is counted
	n := 1
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		n += stands(node.Alias, known)
	}
	for _, child := range node.Content {
		if n > maxValues {
			break
		}
		n += stands(child, known)
	}
	known[node] = n
	return n
}

// member is the first member of a mapping with a name; nil without it.
func member(node *yaml.Node, name string) *yaml.Node {
	for key, value := range pairs(node) {
		if key == name {
			return value
		}
	}
	return nil
}

// pairs are the members of a mapping in their order; none of anything else.
func pairs(node *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if node == nil {
			return
		}
		if node = target(node); node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(scalar(node.Content[i]), target(node.Content[i+1])) {
				return
			}
		}
	}
}

// items are those of a list; none of anything else.
func items(node *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		if node == nil {
			return
		}
		if node = target(node); node.Kind != yaml.SequenceNode {
			return
		}
		for _, item := range node.Content {
			if !yield(target(item)) {
				return
			}
		}
	}
}

// scalar is the text of a node; "" of a list or a mapping.
func scalar(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	if node = target(node); node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// texts are the texts of a list, or those of one text with commas between them.
func texts(node *yaml.Node) (all []string) {
	for item := range items(node) {
		if text := scalar(item); text != "" {
			all = append(all, text)
		}
	}
	if text := scalar(node); text != "" {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}
