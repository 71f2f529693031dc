package db

// Exported for the tests of the dialect and of migrations.
var (
	SQLiteStatements = sqliteStatements
	StatementName    = statementName
	Migrator         = migrator
)
