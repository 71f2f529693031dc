package db

import (
	"context"
	"database/sql"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// PostgreSQL commits transactions that notify one after the other, under a lock of the
// whole server. So a process that is alone with its database is silent: it sends no
// notifications. An advisory lock, silenceKey, guards this. The session that LISTENs
// holds it:
//
//   - Every listening session holds the lock shared. A process whose session also
//     holds it exclusively is silent: no other session listens.
//   - A process that starts to listen cannot take the shared lock while another is
//     silent. It asks for it on its channel of peers. The silent process waits for its silent
//     commits to end, releases the exclusive lock and notifies that channel. The new
//     process takes the shared lock and then wakes all its listeners: they see the
//     silent commits, and later commits are announced.
//   - A session that breaks loses its locks on the server before its process notices.
//     In between, the process may commit silently although another has started to
//     listen. It notifies the peers when it listens again, and the others wake all
//     their listeners.
const silenceKey = 0x7376632e6c697374

// channels are those of one schema: a server keeps the channels and the locks of all schemas
// of a database together.
type channels struct {
	topics string // carries announced topics
	peers  string // a process started to listen, or is no longer silent
	lock   int64  // silenceKey, or another for a schema
}

func channelsOf(schema string) channels {
	if schema == "" {
		return channels{"svc", "svc_peers", silenceKey}
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(schema)) // never fails
	return channels{"svc_" + schema, "svc_peers_" + schema, int64(sum.Sum64())}
}

const (
	// peersPace is how often a process that is not silent tries to become so.
	peersPace = time.Second
	// listenPause is the pause between two tries to listen.
	listenPause = 250 * time.Millisecond
)

// peers records whether other processes listen to the same database. It is safe for
// concurrent use.
type peers struct {
	mu      sync.Mutex
	silent  bool           // no other process listens
	commits sync.WaitGroup // silent commits in progress
}

// silently reports whether a commit may send no notification. If so, call ended after the
// commit.
func (p *peers) silently() (ended func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent {
		p.commits.Add(1)
	}
	return p.commits.Done, p.silent
}

func (p *peers) beSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
}

// endSilence makes new commits notify, and waits for the silent ones in progress.
func (p *peers) endSilence() {
	p.mu.Lock()
	p.silent = false
	p.mu.Unlock()
	p.commits.Wait()
}

// announce sends all topics of a transaction in one round trip.
const announce = namePrefix + "Announce :exec\nSELECT pg_notify($1, topic) FROM unnest($2::text[]) AS topic"

func (e *postgresEngine) announce(ctx context.Context, tx *sql.Tx, topics []string) (ended func(), err error) {
	if len(topics) == 0 {
		return func() {}, nil
	}
	if ended, ok := e.peers.silently(); ok {
		return ended, nil
	}
	_, err = tx.ExecContext(ctx, announce, e.channels.topics, topics)
	return func() {}, err
}

// wakeOthers wakes the other processes after a session was disconnected: its last commits
// may not have been announced.
func (e *postgresEngine) wakeOthers(ctx context.Context) error {
	_, err := e.pool.Exec(ctx, "NOTIFY "+e.channels.peers)
	return err
}

// listen keeps one session that LISTENs, and opens a new one when it breaks.
func (e *postgresEngine) listen(ctx context.Context, h *hub, log *slog.Logger) {
	for ctx.Err() == nil {
		if err := e.listenOnce(ctx, h); err != nil && ctx.Err() == nil {
			log.Warn("the connection that listens to the database broke; trying again", "err", marked(err))
			select {
			case <-ctx.Done():
			case <-time.After(listenPause):
			}
		}
	}
}

func (e *postgresEngine) listenOnce(ctx context.Context, h *hub) error {
	conn, err := pgx.ConnectConfig(ctx, e.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	defer e.peers.endSilence() // before the session closes and releases its locks
	if _, err := conn.Exec(ctx, "LISTEN "+e.channels.topics+"; LISTEN "+e.channels.peers); err != nil {
		return err
	}
	h.wakeAll() // for topics that were announced before the LISTEN
	return (&session{conn: conn, channels: e.channels, peers: &e.peers, hub: h}).run(ctx)
}

// session is the session that LISTENs.
type session struct {
	conn           *pgx.Conn
	channels       channels
	peers          *peers
	hub            *hub
	shared, silent bool // which locks of silenceKey it holds; silent is the exclusive one
}

// run handles notifications, and every peersPace tries to take the locks that it misses.
func (s *session) run(ctx context.Context) error {
	if err := s.advance(ctx); err != nil {
		return err
	}
	retry := time.Now().Add(peersPace)
	for {
		n, err := s.next(ctx, retry)
		switch {
		case err != nil:
		case n == nil:
			retry = time.Now().Add(peersPace)
			err = s.advance(ctx)
		case n.Channel == s.channels.topics:
			s.hub.wake(n.Payload)
		case n.PID != s.conn.PgConn().PID():
			s.hub.wakeAll() // the sender's last commits may have been silent
			retry = time.Now().Add(peersPace)
			err = s.makeWay(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// next returns the next notification; nil if there is none until the time.
func (s *session) next(ctx context.Context, until time.Time) (*pgconn.Notification, error) {
	wait, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	n, err := s.conn.WaitForNotification(wait)
	if err != nil && ctx.Err() == nil && wait.Err() != nil && !s.conn.IsClosed() {
		return nil, nil
	}
	return n, err
}

// advance tries to take the shared lock and then the exclusive one, which makes the
// process silent.
func (s *session) advance(ctx context.Context) error {
	if !s.shared {
		if err := s.notifyPeers(ctx); err != nil {
			return err
		}
		if err := s.share(ctx); err != nil || !s.shared {
			return err
		}
	}
	if s.silent {
		return nil
	}
	err := s.lock(ctx, "SELECT pg_try_advisory_lock($1)", &s.silent)
	if err == nil && s.silent {
		s.peers.beSilent()
	}
	return err
}

// makeWay reacts to another session on the channel of peers: it gives up the exclusive lock, or
// takes the shared one that the other may just have made available.
func (s *session) makeWay(ctx context.Context) error {
	if !s.shared {
		return s.share(ctx)
	}
	if !s.silent {
		return nil
	}
	s.peers.endSilence()
	s.silent = false
	var unlocked bool
	if err := s.lock(ctx, "SELECT pg_advisory_unlock($1)", &unlocked); err != nil {
		return err
	}
	return s.notifyPeers(ctx)
}

func (s *session) share(ctx context.Context) error {
	err := s.lock(ctx, "SELECT pg_try_advisory_lock_shared($1)", &s.shared)
	if err == nil && s.shared {
		s.hub.wakeAll() // for commits while another process was silent
	}
	return err
}

// lock runs a statement that takes or releases silenceKey.
func (s *session) lock(ctx context.Context, statement string, done *bool) error {
	return s.conn.QueryRow(ctx, statement, s.channels.lock).Scan(done)
}

func (s *session) notifyPeers(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, "NOTIFY "+s.channels.peers)
	return err
}
