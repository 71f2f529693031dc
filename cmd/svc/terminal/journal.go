package terminal

import (
	"context"
	"io"
	"log/slog"
	"sync"
)

// journal is a handler for a log that systemd reads: each line begins with its priority, as
// sd-daemon(3) has it, so that journalctl --priority finds warnings.
type journal struct {
	next slog.Handler
	out  *prefixed
}

// forJournal makes a handler whose lines, as form writes them, get their priority.
func forJournal(w io.Writer, form func(io.Writer) slog.Handler) slog.Handler {
	out := &prefixed{to: w}
	return journal{form(out), out}
}

// Enabled implements slog.Handler.
func (j journal) Enabled(ctx context.Context, level slog.Level) bool {
	return j.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (j journal) Handle(ctx context.Context, r slog.Record) error {
	j.out.mu.Lock()
	defer j.out.mu.Unlock()
	j.out.prefix = priority(r.Level)
	return j.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (j journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	return journal{j.next.WithAttrs(attrs), j.out}
}

// WithGroup implements slog.Handler.
func (j journal) WithGroup(name string) slog.Handler { return journal{j.next.WithGroup(name), j.out} }

// priority is the prefix of a level.
func priority(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "<3>"
	case level >= slog.LevelWarn:
		return "<4>"
	case level >= slog.LevelInfo:
		return "<6>"
	}
	return "<7>"
}

// prefixed writes each line with a prefix, in one call.
type prefixed struct {
	to     io.Writer
	mu     sync.Mutex // held while a line is made and written
	prefix string
}

// Write implements io.Writer.
func (p *prefixed) Write(line []byte) (int, error) {
	if _, err := p.to.Write(append([]byte(p.prefix), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
