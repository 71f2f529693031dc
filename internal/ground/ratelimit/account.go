package ratelimit

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Account collects what one request costs. Its zero value is ready. It is safe for concurrent
// use.
type Account struct {
	idle   atomic.Int64 // nanoseconds
	stored atomic.Int64
	cpu    atomic.Int64 // nanoseconds
	thread Thread

	mu       sync.Mutex
	sections map[int]time.Duration // by thread, the time of its clock when the section began
}

// Thread is the clock of operating system threads: the processor time that the calling thread
// has used, and which thread that is.
type Thread interface {
	Used() time.Duration
	ID() int
}

// Account returns an account for one request. A nil ledger has one, too.
func (l *Ledger) Account() *Account {
	if l == nil {
		return &Account{}
	}
	return &Account{thread: l.Thread}
}

type accountKey struct{}

// With returns a context whose work is charged to the account.
func (a *Account) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// Work does something costly, such as reading a .blend, decoding a picture or hashing, and
// charges its processor time to the account of ctx.
//
// Go has no clock for a goroutine. While do runs, its goroutine therefore keeps its thread,
// and the thread's clock tells the processor time, however many others use the processors.
// What do leaves to other goroutines is not counted. Do must not wait for other requests, since
// each waiting goroutine would take a thread: Pause around such waits.
func Work(ctx context.Context, do func()) {
	a, _ := ctx.Value(accountKey{}).(*Account)
	if a == nil || !a.begin() { // nobody to charge, or part of a section
		do()
		return
	}
	defer a.end()
	do()
}

// Pause interrupts the section of Work that the calling goroutine is in, if it is in one,
// while do waits.
func Pause(ctx context.Context, do func()) {
	a, _ := ctx.Value(accountKey{}).(*Account)
	if a == nil || !a.end() {
		do()
		return
	}
	defer a.begin()
	do()
}

// begin begins a section, unless the calling goroutine is in one.
func (a *Account) begin() bool {
	runtime.LockOSThread()
	thread := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	id := thread.ID()
	if _, in := a.sections[id]; in {
		runtime.UnlockOSThread()
		return false
	}
	if a.sections == nil {
		a.sections = map[int]time.Duration{}
	}
	a.sections[id] = thread.Used()
	return true
}

// end ends the section of the calling goroutine. It is false where that is in none: the thread
// of a section runs no other goroutine.
func (a *Account) end() bool {
	thread := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sections) == 0 {
		return false
	}
	id := thread.ID()
	began, in := a.sections[id]
	if !in {
		return false
	}
	a.cpu.Add(int64(thread.Used() - began))
	delete(a.sections, id)
	runtime.UnlockOSThread()
	return true
}

func (a *Account) clock() Thread {
	if a.thread == nil {
		return systemThread{}
	}
	return a.thread
}

// Idle tells the account of ctx that its request has only waited since a time.
func Idle(ctx context.Context, since time.Time) {
	a, _ := ctx.Value(accountKey{}).(*Account)
	a.Idle(since)
}

// Idle says that the request has only waited since a time. A nil account ignores it.
func (a *Account) Idle(since time.Time) {
	if a != nil {
		a.idle.Add(int64(time.Since(since)))
	}
}

// Store tells the account of ctx that so many bytes of files and rows are stored.
func Store(ctx context.Context, bytes int64) {
	if a, ok := ctx.Value(accountKey{}).(*Account); ok {
		a.stored.Add(bytes)
	}
}

// Spent is what the request has cost that began at a time and received so many bytes.
func (a *Account) Spent(who string, began time.Time, received int64) Spent {
	busy := max(0, time.Since(began)-time.Duration(a.idle.Load()))
	return Spent{Who: who, Busy: busy, CPU: time.Duration(a.cpu.Load()), Stored: a.stored.Load(), Received: received}
}
