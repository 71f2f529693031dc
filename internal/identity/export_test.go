package identity

// Address is the spelling of an address.
var Address = address

// Letter is what Deliver hands to the server.
func (m *Mail) Letter(email, link string) []byte { return m.letter(email, link) }
