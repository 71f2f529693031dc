package blender

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/settings"
)

// command is one line to the driver: "open", "play", "render", "divides", "strip", "finish" or "bands". keep_data,
// plays, scene, settings, outputs and frames belong to open, as preview and shot do; the two about loading belong
// to render, strip and finish; rows to strip; how many bands to bands; file to open and finish; frame to
// all but open and divides.
type command struct {
	Command  string `json:"command"`
	File     string `json:"file,omitempty"`
	KeepData bool   `json:"keep_data"`
	Plays    bool   `json:"plays"`
	Scene    string `json:"scene,omitempty"`

	Settings settings.Settings `json:"settings"`

	Outputs *OutputLimits `json:"outputs,omitempty"`

	Frames  *Frames  `json:"frames"`
	Preview *Preview `json:"preview,omitempty"`
	Shot    *Shot    `json:"shot,omitempty"`
	Rows    *[2]int  `json:"rows,omitempty"`
	Bands   int      `json:"bands,omitempty"`
	Frame   *int     `json:"frame,omitempty"`
	Fresh   bool     `json:"fresh"`
	Reload  bool     `json:"reload"` // load the file again first
}

// reply is one line from the driver. Each names its kind in the member "reply".
type reply struct {
	name string
	body json.RawMessage
}

// lineTimeout bounds how long a reply waits for Blender's log lines that belong to
// it. The driver prints them before it replies, but over another pipe.
const lineTimeout = 250 * time.Millisecond

// exitTimeout bounds the wait for the exit of a Blender that has closed its pipe,
// so that the error can name its exit status.
const exitTimeout = 3 * time.Second

// listen reads the driver's replies until Blender closes its end. A line is at most
// 1 MiB: a hostile file may have taken over Blender and write anything.
func (p *Process) listen(r io.Reader) {
	defer close(p.replies)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var head struct {
			Reply  string `json:"reply"`
			Number int    `json:"said"`
		}
		body := append(json.RawMessage(nil), lines.Bytes()...)
		if err := json.Unmarshal(body, &head); err != nil {
			return // something other than the driver writes: the caller sees the end
		}
		p.output.await(head.Number, lineTimeout)
		select {
		case p.replies <- reply{head.Reply, body}:
		case <-p.killed: // no call waits for the reply
			return
		}
	}
}

// call sends a command (none when nil) and waits for the reply named wanted, whose
// body it decodes into result. After any error but a refusal the process has ended.
// Errors: the driver's refusal, the process's end, ctx's end, and missing progress
// (Options.Patience).
func (p *Process) call(ctx context.Context, send any, wanted string, result any) error {
	if send != nil {
		line, err := json.Marshal(send)
		if err == nil {
			err = p.running.Resume()
		}
		if err != nil {
			return fmt.Errorf("write a command for Blender: %w", err)
		}
		// A broken pipe means that Blender has ended; why is in its exit status.
		if _, err := p.commands.Write(append(line, '\n')); err != nil {
			return p.ended()
		}
	}
	p.played = 0
	v := p.watchdog()
	ticker := time.NewTicker(v.patience.interval())
	defer ticker.Stop()
	disk := time.NewTicker(diskInterval)
	defer disk.Stop()
	for {
		select {
		case <-ctx.Done():
			return p.abandon("it was ended before it was done: "+context.Cause(ctx).Error(), ctx.Err())
		case <-ticker.C:
			if why := v.sample(time.Now()); why != "" {
				return p.abandon(why, nil)
			}
		case <-disk.C:
			if err := p.fills(); err != nil {
				return err
			}
		// A new status line is progress, even when the command has not ended.
		case <-p.output.changed:
			v.moved = time.Now()
		case r, ok := <-p.replies:
			v.moved = time.Now()
			switch {
			case !ok:
				return p.ended()
			case r.name == "frame_started":
				p.started = time.Now()
			case r.name == "frame_played":
				p.played++
			case r.name == "error":
				return cmp.Or(p.rest(), p.refusal(r.body))
			case r.name == wanted:
				return cmp.Or(p.rest(), decode(r, result))
			}
		}
	}
}

// rest lets nothing of Blender run until the next command: what a file has started ends with
// its frame.
func (p *Process) rest() error {
	if err := p.running.Pause(); err != nil {
		return p.abandon("something of it still runs after its reply", err)
	}
	return p.fills()
}

// diskInterval is how often a command's files are counted. In that time a program writes a
// part of what it may have.
const diskInterval = time.Second / 4

// fills ends a Blender that has more on disk than it may.
func (p *Process) fills() error {
	most := p.opts.Sandbox.Limits().Disk
	if most == 0 || p.running.Written(p.home(), p.out()) <= most {
		return nil
	}
	p.end()
	<-p.done
	return &Error{Code: Crashed, Message: "Blender wrote more than " + sandbox.Size(most) + " to disk, the most that it may have there", Log: p.output.text()}
}

// decode reads the members of a reply that its kind has.
func decode(r reply, result any) error {
	if err := json.Unmarshal(r.body, result); err != nil {
		return fmt.Errorf("read Blender's reply %q: %w", r.name, err)
	}
	return nil
}

// abandon ends a Blender that hangs or is no longer needed. It waits for the end,
// so that the log is whole and the caller may remove the folder.
func (p *Process) abandon(why string, cause error) error {
	p.end()
	<-p.done
	return &Error{Code: NoProgress, Message: "Blender made no progress: " + why, Log: p.output.text(), cause: cause}
}

// refusal returns the error in the driver's reply. It adds the limit on files where
// that explains the message: Blender itself only says that it could not write.
func (p *Process) refusal(body json.RawMessage) error {
	var wire struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Final   bool   `json:"final"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return fmt.Errorf("read Blender's reply %q: %w", "error", err)
	}
	message := withoutPaths(strings.Join(strings.Fields(wire.Message), " "))
	if most := p.opts.Sandbox.Limits().FileSize; most > 0 && wroteTooMuch(message) {
		message += fmt.Sprintf(" (no file of a frame may be larger than %s here)", sandbox.Size(most))
	}
	return &Error{Code: wire.Code, Message: message, Log: p.output.text(), Final: wire.Final}
}

// wroteTooMuch recognises messages about a file above a limit, or about a full
// disk.
func wroteTooMuch(message string) bool {
	return strings.Contains(message, "File too large") || strings.Contains(message, "Error writing tile to file")
}

// ended explains why a Blender exited unexpectedly. It asks first whether we ended
// it, since p.end marks it as killed too.
func (p *Process) ended() error {
	killed := p.wasKilled()
	select {
	case <-p.done:
	case <-time.After(exitTimeout): // it has closed its pipe but still runs
	}
	p.end()
	<-p.done
	log := p.output.text()
	code, message := Crashed, "Blender was ended"
	if !killed {
		code, message = explain(p.ending, log)
	}
	return &Error{Code: code, Message: message, Log: log}
}

// wasKilled reports whether we ended the process.
func (p *Process) wasKilled() bool {
	select {
	case <-p.killed:
		return true
	default:
		return false
	}
}

// explain derives a failure code and a sentence from a process's exit and its last
// output. The order matters: a limit that was reached says more than the signal by
// which it ended the process, and what Blender printed about memory says more than
// a crash that follows from it.
func explain(end sandbox.Ending, log string) (code, message string) {
	switch {
	case end.Hit == sandbox.HitMemory:
		return OutOfMemory, "Blender needed more than the " + end.Limit + " of memory that it may have here"
	case end.Hit == sandbox.HitCPU:
		return NoProgress, "Blender was busy for " + end.Limit + " of processor time, the most that it may have here"
	case mentionsMemory(log):
		return OutOfMemory, "Blender ran out of memory"
	case end.Hit == sandbox.HitTasks:
		return Crashed, "Blender started more than the " + end.Limit + " threads that it may have here"
	case end.Hit == sandbox.HitFileSize:
		return Crashed, "Blender wrote a file that is larger than it may be here"
	case end.Signal == syscall.SIGKILL:
		return Crashed, "somebody or something on the worker's machine killed Blender"
	case end.Signal != 0:
		return Crashed, fmt.Sprintf("Blender crashed (%s)", end.Signal)
	case end.Status == pythonExit:
		return Crashed, "Blender's driver failed: " + lastLine(log)
	case strings.HasPrefix(lastLine(log), "bwrap: "), strings.HasPrefix(lastLine(log), "svc sandbox: "):
		return Crashed, "the sandbox could not be made: " + lastLine(log)
	}
	return Crashed, fmt.Sprintf("Blender ended with status %d before it was done", end.Status)
}

// mentionsMemory recognises what Blender, Cycles and C++ print when memory runs out.
func mentionsMemory(log string) bool {
	log = strings.ToLower(log)
	for _, sign := range []string{"std::bad_alloc", "malloc returns null", "calloc array aborted", "out of memory", "out of gpu"} {
		if strings.Contains(log, sign) {
			return true
		}
	}
	return false
}

// lastLine returns what follows the last line feed.
func lastLine(log string) string { return log[strings.LastIndexByte(log, '\n')+1:] }
