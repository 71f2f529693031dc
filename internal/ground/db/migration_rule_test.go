package db_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Statements that leave an older program everything that it needs.
var (
	comment     = regexp.MustCompile(`--[^\n]*`)
	literal     = regexp.MustCompile(`'[^']*'`)
	raises      = regexp.MustCompile(`(?m)^UPDATE schema_reach SET oldest = (\d+);`)
	makesTable  = regexp.MustCompile(`(?i)^CREATE TABLE (\w+)`)
	makesIndex  = regexp.MustCompile(`(?i)^CREATE INDEX \w+ ON \w+`)
	uniqueIndex = regexp.MustCompile(`(?i)^CREATE UNIQUE INDEX \w+ ON (\w+)`)
	addsColumn  = regexp.MustCompile(`(?i)^ALTER TABLE \w+ ADD COLUMN (\w+ .*)$`)
	writesRows  = regexp.MustCompile(`(?i)^(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)`)
	binds       = regexp.MustCompile(`(?i)\b(UNIQUE|REFERENCES|CHECK|PRIMARY)\b`)
	isNotNull   = regexp.MustCompile(`(?i)\bNOT NULL\b`)
	hasDefault  = regexp.MustCompile(`(?i)\bDEFAULT\b`)
)

// breaches returns what a migration does to older programs that serve next to it. One that
// raises schema_reach may do anything, but not to the programs that it still names.
func breaches(name, text string) (wrong []string) {
	prefix, _, _ := strings.Cut(name, "_")
	number, err := strconv.Atoi(prefix)
	if err != nil {
		return []string{"its name begins with no number"}
	}
	if number <= 81 {
		return nil // of programs that were stopped for an upgrade
	}
	up, _, _ := strings.Cut(text, "-- +goose Down")
	plain := comment.ReplaceAllString(literal.ReplaceAllString(up, "''"), "")
	if raised := raises.FindStringSubmatch(plain); raised != nil {
		if oldest, _ := strconv.Atoi(raised[1]); oldest <= 81 || oldest > number {
			return []string{fmt.Sprintf("it raises schema_reach to %s, which is no later schema up to its own", raised[1])}
		}
		return nil
	}
	own := []string{"unsummed"}
	for statement := range strings.SplitSeq(plain, ";") {
		statement = strings.Join(strings.Fields(statement), " ")
		if made := makesTable.FindStringSubmatch(statement); made != nil {
			own = append(own, made[1])
		} else if statement != "" && !onlyAdds(statement, own) {
			wrong = append(wrong, fmt.Sprintf("%q is nothing that only adds", statement))
		}
	}
	return wrong
}

// onlyAdds reports whether an older program notices nothing of a statement. own are tables that
// it does not know.
func onlyAdds(statement string, own []string) bool {
	if index := uniqueIndex.FindStringSubmatch(statement); index != nil {
		return slices.Contains(own, index[1])
	}
	if rows := writesRows.FindStringSubmatch(statement); rows != nil {
		return slices.Contains(own, rows[1])
	}
	if column := addsColumn.FindStringSubmatch(statement); column != nil {
		return !binds.MatchString(column[1]) && (hasDefault.MatchString(column[1]) || !isNotNull.MatchString(column[1]))
	}
	return makesIndex.MatchString(statement)
}
