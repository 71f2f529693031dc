package sandbox

// Refused is for tests.
var Refused = refused
