package db

// Exported for the tests of the dialect.
var (
	SQLiteStatements = sqliteStatements
	StatementName    = statementName
)
