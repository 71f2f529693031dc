package db

// What tests of the dialect look at.
var (
	SQLiteStatements = sqliteStatements
	StatementName    = statementName
)
