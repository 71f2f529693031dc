package identity

// Address is the spelling of an address.
var Address = address

// Letter is what Send hands to the server.
func (m *Mail) Letter(to, text string) []byte { return m.letter(to, "Subject", text) }
