package witness

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Party is a witness that a service asks. URL is its address, which AddPath follows.
type Party struct {
	Name string // in the policy
	Key  PublicKey
	URL  string
}

// group is met by k of its members.
type group struct {
	k       int
	members []string
}

// Policy says which witnesses are asked, and how many must have signed for a checkpoint to
// count as witnessed.
type Policy struct {
	Witnesses []Party
	groups    map[string]group
	quorum    string // a witness's or a group's name; "none"
}

// none is the quorum that is always met.
const none = "none"

// ParsePolicy reads a policy in the form of C2SP tlog-policy: lines of
//
//	witness NAME VERIFIER-KEY URL
//	group NAME any|all|N MEMBER…
//	quorum NAME|none
//
// Empty lines and those that begin with # are ignored. A name is defined before it is used,
// and once. The error names the line.
func ParsePolicy(text string) (Policy, error) {
	p := Policy{groups: map[string]group{}}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := p.read(words); err != nil {
			return p, fmt.Errorf("line %d of the policy: %w", i+1, err)
		}
	}
	if p.quorum == "" {
		return p, fmt.Errorf("the policy has no quorum: which witness or group must have signed, or none")
	}
	return p, nil
}

func (p *Policy) read(words []string) error {
	if p.quorum != "" {
		return fmt.Errorf("the quorum is the last line")
	}
	switch {
	case words[0] == "witness" && len(words) == 4:
		return p.addWitness(words[1], words[2], words[3])
	case words[0] == "group" && len(words) >= 4:
		return p.addGroup(words[1], words[2], words[3:])
	case words[0] == "quorum" && len(words) == 2:
		if words[1] != none && !p.has(words[1]) {
			return fmt.Errorf("%q is no witness or group above", words[1])
		}
		p.quorum = words[1]
		return nil
	}
	return fmt.Errorf("wanted witness NAME KEY URL, group NAME any|all|N MEMBER…, or quorum NAME|none")
}

func (p *Policy) has(name string) bool {
	_, is := p.groups[name]
	return is || slices.ContainsFunc(p.Witnesses, func(w Party) bool { return w.Name == name })
}

func (p *Policy) addWitness(name, key, address string) error {
	if name == none || p.has(name) {
		return fmt.Errorf("the name %q is taken", name)
	}
	public, err := ParseKey(key)
	if err != nil {
		return err
	}
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") {
		return fmt.Errorf("%q is no address of a witness", address)
	}
	p.Witnesses = append(p.Witnesses, Party{name, public, strings.TrimSuffix(address, "/")})
	return nil
}

func (p *Policy) addGroup(name, most string, members []string) error {
	if name == none || p.has(name) {
		return fmt.Errorf("the name %q is taken", name)
	}
	for i, member := range members {
		if !p.has(member) || slices.Contains(members[:i], member) {
			return fmt.Errorf("%q is no witness or group above, or stands twice", member)
		}
	}
	k, err := strconv.Atoi(most)
	switch most {
	case "any":
		k, err = 1, nil
	case "all":
		k, err = len(members), nil
	}
	if err != nil || k < 1 || k > len(members) {
		return fmt.Errorf("%q of %d members is no number of them", most, len(members))
	}
	p.groups[name] = group{k, members}
	return nil
}

// Met reports whether the witnesses that signed, by their names in the policy,
// are enough.
func (p Policy) Met(signed []string) bool { return p.quorum == none || p.met(p.quorum, signed) }

func (p Policy) met(name string, signed []string) bool {
	g, is := p.groups[name]
	if !is {
		return slices.Contains(signed, name)
	}
	n := 0
	for _, member := range g.members {
		if p.met(member, signed) {
			n++
		}
	}
	return n >= g.k
}
