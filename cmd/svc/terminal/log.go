package terminal

import (
	"io"
	"log/slog"
)

// LogFlags say what a long-running command logs, and how.
type LogFlags struct {
	Level  slog.Level `name:"log-level" env:"SVC_LOG_LEVEL" default:"info" placeholder:"LEVEL" help:"Lowest level to log: debug, info, warn or error."`
	Format string     `name:"log-format" env:"SVC_LOG_FORMAT" enum:"text,json" default:"text" help:"Format of the log: text (key=value) or json."`
}

// Start makes the whole process log to w as the flags say.
func (f LogFlags) Start(w io.Writer) { slog.SetDefault(f.logger(w)) }

func (f LogFlags) logger(w io.Writer) *slog.Logger {
	form := func(w io.Writer) slog.Handler {
		options := &slog.HandlerOptions{Level: f.Level}
		if f.Format == "json" {
			return slog.NewJSONHandler(w, options)
		}
		return slog.NewTextHandler(w, options)
	}
	if isJournal(w) {
		return slog.New(forJournal(w, form))
	}
	return slog.New(form(w))
}
