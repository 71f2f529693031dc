package db

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A commit that notifies takes a lock that all notifying commits of the server
// share, so a process that is alone with its database sends nothing. The right to
// send nothing is an advisory lock, silenceKey, held by the session that LISTENs:
//
//   - Every listening session holds it shared. A process whose session also holds
//     it exclusively is silent: no other session listens.
//   - A process that begins to listen cannot have its share while another is
//     silent. It asks for it on peersChannel. The silent one waits for its silent
//     commits to end, gives the exclusive lock up and says so. The newcomer takes
//     its share and then wakes all its listeners: they see what was committed in
//     silence, and what comes later is announced.
//   - A session that breaks loses its locks on the server before its process knows.
//     Until it does, its commits may be silent though another process has begun to
//     listen. It says so when it listens again, and the others wake their listeners.
const silenceKey = 0x7376632e6c697374

const (
	topicsChannel = "svc"       // carries announced topics
	peersChannel  = "svc_peers" // says that a process began to listen, or is silent no more
)

const (
	// peersPace is how often a process looks for whether others still listen.
	peersPace = time.Second
	// listenPause is between two tries to listen.
	listenPause = 250 * time.Millisecond
)

// peers is what this process knows of others that listen to the same database.
type peers struct {
	mu      sync.Mutex
	silent  bool           // no one else listens
	commits sync.WaitGroup // those that are silent and not yet ended
}

// silently reports whether a commit may send nothing; call ended after it.
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

// endSilence returns when the silent commits under way have ended. New ones are
// announced meanwhile.
func (p *peers) endSilence() {
	p.mu.Lock()
	p.silent = false
	p.mu.Unlock()
	p.commits.Wait()
}

const announce = nameMark + "Announce :exec\nSELECT pg_notify($1, topic) FROM unnest($2::text[]) AS topic"

func (e *postgresEngine) announce(ctx context.Context, tx *sql.Tx, topics []string) (ended func(), err error) {
	if len(topics) == 0 {
		return func() {}, nil
	}
	if ended, ok := e.peers.silently(); ok {
		return ended, nil
	}
	_, err = tx.ExecContext(ctx, announce, topicsChannel, topics)
	return func() {}, err
}

// listen holds one session that LISTENs, and takes a new one when it breaks.
func (e *postgresEngine) listen(ctx context.Context, h *hub, log *slog.Logger) {
	for ctx.Err() == nil {
		if err := e.listenOnce(ctx, h); err != nil && ctx.Err() == nil {
			log.Warn("listening to the database broke off, trying again", "error", err)
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
	defer e.peers.endSilence() // before the locks go with the session
	if _, err := conn.Exec(ctx, "LISTEN "+topicsChannel+"; LISTEN "+peersChannel); err != nil {
		return err
	}
	h.wakeAll() // what was announced while nobody listened
	return (&session{conn: conn, peers: &e.peers, hub: h}).run(ctx)
}

// session is the one that LISTENs, with what it holds of silenceKey.
type session struct {
	conn           *pgx.Conn
	peers          *peers
	hub            *hub
	shared, silent bool
}

func (s *session) run(ctx context.Context) error {
	if err := s.advance(ctx); err != nil {
		return err
	}
	look := time.Now().Add(peersPace)
	for {
		n, err := s.next(ctx, look)
		switch {
		case err != nil:
		case n == nil:
			look = time.Now().Add(peersPace)
			err = s.advance(ctx)
		case n.Channel == topicsChannel:
			s.hub.wake(n.Payload)
		case n.PID != s.conn.PgConn().PID():
			s.hub.wakeAll() // the sender's last commits may have been silent
			look = time.Now().Add(peersPace)
			err = s.makeWay(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// next is the next notification, nil when there is none until then.
func (s *session) next(ctx context.Context, until time.Time) (*pgconn.Notification, error) {
	wait, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	n, err := s.conn.WaitForNotification(wait)
	if err != nil && ctx.Err() == nil && wait.Err() != nil && !s.conn.IsClosed() {
		return nil, nil
	}
	return n, err
}

// advance takes the session's share of the lock, and then silence.
func (s *session) advance(ctx context.Context) error {
	if !s.shared {
		if err := s.tellPeers(ctx); err != nil {
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

// makeWay answers another session's word on peersChannel.
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
	return s.tellPeers(ctx)
}

func (s *session) share(ctx context.Context) error {
	err := s.lock(ctx, "SELECT pg_try_advisory_lock_shared($1)", &s.shared)
	if err == nil && s.shared {
		s.hub.wakeAll() // what was committed in silence
	}
	return err
}

func (s *session) lock(ctx context.Context, statement string, done *bool) error {
	return s.conn.QueryRow(ctx, statement, int64(silenceKey)).Scan(done)
}

func (s *session) tellPeers(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, "NOTIFY "+peersChannel)
	return err
}
