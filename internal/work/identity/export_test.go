package identity

// Address is the spelling of an address.
var Address = address

// Message is what Send hands to the server.
func (m *Mail) Message(to, text string) []byte { return m.message(to, "Subject", text) }
