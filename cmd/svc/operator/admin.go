package operator

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// Admin works on the store directly, with or without a running service. It needs no
// key: anyone who can read the store may do everything.
type Admin struct {
	Workspace struct {
		List      workspaceList      `cmd:"" help:"List workspaces with their balances, the newest first."`
		Show      workspaceShow      `cmd:"" help:"Show a workspace: people, money, keys, jobs and the last entries of the ledger."`
		Create    workspaceCreate    `cmd:"" help:"Create a workspace with an account key and an agent key."`
		Credit    workspaceCredit    `cmd:"" help:"Add money to a workspace's wallet."`
		Refund    workspaceRefund    `cmd:"" help:"Refund a job's payment to its workspace."`
		Freeze    workspaceFreeze    `cmd:"" help:"Stop a workspace from starting jobs, with a reason that it is shown. Running jobs continue."`
		Unfreeze  workspaceUnfreeze  `cmd:"" help:"Let a frozen workspace start jobs again."`
		Retention workspaceRetention `cmd:"" help:"Set for how many days the ZIPs of a workspace are kept."`
		Limit     workspaceLimit     `cmd:"" help:"Set what a workspace may spend in a day."`
		Tags      workspaceTags      `cmd:"" help:"Have only workers with some tags render for a workspace."`
		Frames    workspaceFrames    `cmd:"" help:"Set how many frames of a workspace are rendered at the same time."`
		ProofPage proofPage          `cmd:"" help:"Publish or hide the proof pages of a workspace's receipts."`
	} `cmd:"" help:"Manage workspaces and their money."`
	Invoice struct {
		Show invoiceShow `cmd:"" help:"Show who sells on invoices: company, tax, numbers."`
		Set  invoiceSet  `cmd:"" help:"Set who sells on invoices from now on. What is not named is empty."`
		List invoiceList `cmd:"" help:"List the invoices and credit notes of payments, the newest first. Also as CSV."`
		PDF  invoicePDF  `cmd:"" name:"pdf" help:"Write an invoice or a credit note as PDF."`
	} `cmd:"" help:"Set up and read the invoices of payments."`
	Job struct {
		List       jobList       `cmd:"" help:"List the jobs of all workspaces, the newest first."`
		Show       jobShow       `cmd:"" help:"Show a job: its state, its money, its workers and its failures."`
		Log        jobLog        `cmd:"" help:"Show what happened to a job in order of time: attempts, money, operators' acts, webhooks."`
		AnyBlender jobAnyBlender `cmd:"" help:"Let workers with another Blender version or other denoising render the rest of a job that waits for its own kind."`
		Cancel     jobCancel     `cmd:"" help:"Cancel a job that no worker has claimed, as its owner could."`
		Pause      jobPause      `cmd:"" help:"Give workers no more frames of a job. They finish those that they have."`
		Resume     jobResume     `cmd:"" help:"Let workers take frames of a paused job again."`
		Priority   jobPriority   `cmd:"" help:"Put a job ahead of or behind the others of its workspace."`
		Fail       jobFail       `cmd:"" help:"End a job at any time, with a reason that its owner is shown. Its full price is returned."`
	} `cmd:"" help:"Inspect jobs, pause, order and end them."`
	Worker struct {
		List   workerList   `cmd:"" help:"List workers: state, device, sandbox, when they were last seen."`
		Show   workerShow   `cmd:"" help:"Show a worker: its registration, its frames and its failures."`
		Drain  workerDrain  `cmd:"" help:"Give a worker no more frames. It finishes the frames it has."`
		Forget workerForget `cmd:"" help:"Remove a worker that has left from the list."`
	} `cmd:"" help:"Inspect workers and take them out of service."`
	Key struct {
		Create keyCreate `cmd:"" help:"Create a key. Its secret is shown only once."`
		List   keyList   `cmd:"" help:"List the keys of workers, or of a workspace, without their secrets."`
		Revoke keyRevoke `cmd:"" help:"Revoke a key at once."`
	} `cmd:"" help:"Manage the keys of workspaces and workers."`
	OperatorKey struct {
		Create operatorKeyCreate `cmd:"" help:"Create a key for the operators' HTTP API. Its secret is shown only once."`
		List   operatorKeyList   `cmd:"" help:"List the keys of the operators' HTTP API, without their secrets."`
		Revoke keyRevoke         `cmd:"" help:"Revoke a key at once."`
	} `cmd:"" help:"Manage the keys of the operators' HTTP API (svc serve --operator-api)."`
	SigningKey struct {
		List   signingKeyList   `cmd:"" help:"List all signing keys, past and present, with their validity."`
		Rotate signingKeyRotate `cmd:"" help:"Create a new key and sign with it from now on."`
		End    signingKeyEnd    `cmd:"" aliases:"retire" help:"End a key. What it has signed stays valid."`
	} `cmd:"" help:"Manage the keys that sign receipts and the log."`
	DeadLetter struct {
		List    deadLetterList    `cmd:"" help:"List the server's internal tasks that failed too often: what, when and why."`
		Requeue deadLetterRequeue `cmd:"" help:"Put dead letters back into their queue, due at once."`
	} `cmd:"" help:"Inspect and requeue internal tasks that failed too often and are no longer retried."`
	Leaderboard struct {
		Hide leaderboardHide `cmd:"" help:"Hide benchmark results from all pages and counts. Their own pages give the reason."`
		Show leaderboardShow `cmd:"" help:"Show hidden results again."`
	} `cmd:"" help:"Hide benchmark results, and show them again."`
	TestWorld struct {
		List   testWorldList   `cmd:"" help:"List the test worlds of workspaces: how large each is, and when it was used last."`
		Remove testWorldRemove `cmd:"" help:"Remove a workspace's test world with everything in it. The next test request creates a new one."`
	} `cmd:"" help:"List and remove the test worlds of workspaces."`
	Person struct {
		Operator personOperator `cmd:"" help:"Give a person access to the operator pages at /admin, or list the people who have it."`
	} `cmd:"" help:"Manage who operates the service in the browser."`
	Domain struct {
		List    domainList    `cmd:"" help:"List the domains of addresses whose people join a workspace when they sign in, the newest first."`
		Release domainRelease `cmd:"" help:"Have nobody join a workspace by a domain any more. Another workspace can then claim it."`
	} `cmd:"" help:"Inspect and release domains whose people join workspaces when they sign in with OpenID Connect."`
	Process struct {
		List processList `cmd:"" help:"List the processes that serve: host, version, and when each was last heard."`
	} `cmd:"" help:"Inspect the processes of the service."`
	Alert struct {
		List alertList `cmd:"" help:"List what is wrong with the service now, and what operators were told."`
		Test alertTest `cmd:"" help:"Send a test message to the receivers of alerts."`
	} `cmd:"" help:"Inspect alerts to operators, and try where they arrive."`
	Reuse struct {
		List  reuseList  `cmd:"" help:"List the kinds of workers whose reused frames were rendered again: how many showed the same, and where reuse is off."`
		Reset reuseReset `cmd:"" help:"Let frames of a kind of workers be reused again, after a difference was explained."`
	} `cmd:"" help:"Inspect the comparison of reused frames, and switch reuse on again."`
	Act struct {
		List actList `cmd:"" help:"List what operators did in the browser and with svc admin: when, who, what and why."`
	} `cmd:"" help:"Read the record of operators' actions."`
	Usage          usage          `cmd:"" help:"Show what workspaces used by month: jobs, frames, render time, charges and refunds. Also as CSV."`
	Backup         backup         `cmd:"" help:"Copy the whole service into a folder while it runs, and audit the copy."`
	Restore        restore        `cmd:"" help:"Restore a backup into an empty folder and an empty database, and audit it."`
	Move           move           `cmd:"" help:"Move a stopped service: its rows to PostgreSQL, its files to an S3 store. Then audit it."`
	EraseWorkspace eraseWorkspace `cmd:"" help:"Permanently erase the people, names and files of a workspace. Its ledger and the log's hashes stay."`
	SignInLink     signInLink     `cmd:"" help:"Create a one-time sign-in link."`
	Audit          audit          `cmd:"" help:"Check money, frames, receipts, the log and files in the whole store. Exits with 1 on any breach."`
	Doctor         doctorCommand  `cmd:"" help:"Check the database, the store of files, the unit and what lies between callers and the service. Exits with 1 if something is wrong."`
	Reconcile      reconcile      `cmd:"" help:"Compare the payment provider's payments with the store's top-ups and ledger. Exits with 1 on any difference."`

	// Earlier names of commands above, for scripts that use them.
	Wallet struct {
		Credit walletCredit `cmd:""`
		Refund walletRefund `cmd:""`
	} `cmd:"" hidden:""`
	Workers workerList `cmd:"" hidden:""`
}

// adminFlags are common to all admin commands.
type adminFlags struct {
	store
	JSON bool `name:"json" env:"SVC_JSON" help:"Print one JSON object."`
}

// changeFlags are common to the commands that change or end something.
type changeFlags struct {
	adminFlags
	// Not from the environment: a yes that was meant for another command must not count.
	Yes bool `short:"y" env:"-" help:"Do not ask for confirmation. Required without a terminal."`
}

// change asks, and then performs an act and records it in one transaction of an existing
// store; read, unless nil, reads in it what the command prints. propose makes the act of what it
// reads, and fails where the act would. None of them prints anything: a transaction may run
// more than once.
func (f changeFlags) change(propose func(ctx context.Context, tx *db.Tx) (operator.Act, error), read func(ctx context.Context, tx *db.Tx) error) error {
	ctx := context.Background()
	if err := f.exists(ctx); err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Config{URL: f.config().DatabaseURL()})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	var act operator.Act
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		act, err = propose(ctx, tx)
		return err
	})
	if err == nil {
		err = f.confirm(act.What)
	}
	if err != nil {
		return err
	}
	return d.Write(ctx, func(tx *db.Tx) error {
		err := act.Perform(ctx, tx, operator.Account(whoami()))
		if err == nil && read != nil {
			err = read(ctx, tx)
		}
		return err
	})
}

// whoami names the person who runs the command, for the record of what operators did:
// the person behind sudo, or the account on this machine.
func whoami() string {
	if name := os.Getenv("SUDO_USER"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// confirm asks unless --yes is given. Errors: wrong usage, terminal.ErrDeclined.
func (f changeFlags) confirm(what string) error {
	if f.Yes {
		return nil
	}
	ctx, stop := terminal.UntilSignal()
	defer stop()
	return terminal.Interrupted(ctx, terminal.Confirm(ctx, os.Stdin, os.Stderr, what), "nothing was changed")
}

// to is the proposal of an act that needs nothing read.
func to(act operator.Act) func(context.Context, *db.Tx) (operator.Act, error) {
	return func(context.Context, *db.Tx) (operator.Act, error) { return act, nil }
}

// add runs do in one transaction of an existing store, for commands that only add
// something and so ask nothing.
func (f adminFlags) add(do func(ctx context.Context, tx *db.Tx) error) error {
	if err := f.exists(context.Background()); err != nil {
		return err
	}
	return f.write(do)
}

// write runs do in one transaction of the store and creates the store when there is
// none: an operator may prepare a service before its first start. It says so on
// standard error, because usually --data is mistyped. It migrates no store: an older
// service may run on it. do may run more than once, as
// every transaction may; it must not print.
func (f adminFlags) write(do func(ctx context.Context, tx *db.Tx) error) error {
	ctx := context.Background()
	switch err := db.Stored(ctx, db.Config{URL: f.config().DatabaseURL()}); {
	case errors.Is(err, db.ErrNoStore):
		if err := app.CheckNew(ctx, f.config()); err != nil {
			return terminal.WrongUsage(err)
		}
		terminal.Printf(os.Stderr, "svc: there is no service's data in %s; creating it", f.place())
	case err != nil: // one of another version too: only svc serve migrates, while nobody serves
		return f.refusal(err)
	}
	service, err := app.Open(ctx, f.config())
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	return service.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
}

// read runs do in one read transaction of an existing store, which it cannot change.
func (f adminFlags) read(do func(ctx context.Context, tx *db.Tx) error) error {
	ctx := context.Background()
	d, err := db.Open(ctx, db.Config{URL: f.config().DatabaseURL(), ReadOnly: true})
	if err != nil {
		return f.refusal(err)
	}
	defer func() { _ = d.Close() }()
	return d.Read(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
}

// field is one line of a result for people, and one member of it for programs.
type field struct {
	name  string // the member's name; people read blanks for its underscores
	value any
}

// print writes a result for people, or with --json for programs, who also get "ok".
func (f adminFlags) print(k *kong.Context, fields ...field) error {
	if f.JSON {
		object := map[string]any{"ok": true}
		for _, l := range fields {
			object[l.name] = l.value
		}
		return terminal.PrintJSON(k.Stdout, object)
	}
	table := terminal.NewTable(k.Stdout)
	for _, l := range fields {
		table.Rowf(strings.ReplaceAll(l.name, "_", " "), "%v", l.value)
	}
	return table.Flush()
}
