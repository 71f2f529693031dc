package main

import (
	"slices"
	"strings"
)

// shownElsewhere are the verbs whose success needs what the stage has not.
var shownElsewhere = map[string]string{
	"admin invoice pdf": "needs a payment: TestABookkeeperHasAnInvoiceForEachPaymentAndSpendToTheCent of the stories",
	"worker doctor":     "renders a frame with Blender: testdata/doctor.txtar of the stories",
	"bench":             "renders for a minute with Blender: TestBenchMeasuresThisMachine of the stories",
	"demo":              "renders with Blender: testdata/demo.txtar of the stories",
	"login":             "needs a person in a browser: testdata/signin/login.txtar",
	"log keys":          "prints keys that each service makes for itself: TestASplitViewIsCaughtByWatchAndByAWitness of the stories",
	"log witness":       "serves until it is stopped, with a key of its own: TestASplitViewIsCaughtByWatchAndByAWitness of the stories",
}

const noJob = "JOB-00000000000000000000000000000000"

// verbs is the table of the golden files.
var verbs = slices.Concat(callerVerbs, adminVerbs)

var callerVerbs = []verb{
	{words: "serve", lines: []line{
		{args: "--worker none --listen 127.0.0.1:0", with: noStore, types: []string{"token=" + strings.Repeat("X", 43) + "\n\n", "\x03"}, plain: true},
		{args: "--worker none --listen {LISTEN}", with: noStore, exit: 1, plain: true},
		{args: "--database mysql://127.0.0.1/svc", exit: 2},
	}},
	{words: "worker run", when: alone, lines: []line{
		{args: "--renderer synthetic --name rack-9", with: nodeKey, types: []string{"the worker is ready", "\x03"}, plain: true},
		{args: "--renderer synthetic", exit: 1, with: wrongNodeKey, plain: true},
		{args: "--renderer synthetic", exit: 2},
	}},
	{words: "worker doctor", lines: []line{{args: "--server nowhere", exit: 2, with: nodeKey}}},
	{words: "bench", lines: []line{
		{args: "--blender ./none --sandbox off --server {URL}", exit: 1, with: nodeKey, plain: true},
		{args: "--key svc_agent_x --server {URL}", exit: 2},
	}},
	{words: "render", when: online, lines: []line{
		{args: "scene.blend --frames 1-3", with: own(100), types: []string{"[y/N/look] ", "y\n"}},
		{args: "scene.blend --frames 1-3", exit: 1, with: own(100), types: []string{"[y/N/look] ", "n\n"}, plain: true},
		{args: "scene.blend --frames 1-3", exit: 130, with: own(100), types: []string{"[y/N/look] ", "\x03"}, plain: true},
		{args: "scene.blend --yes", exit: 1, with: own(0)},
		{args: "scene.blend --frames 1-3,7 --max-price 0.03 --yes", exit: 1, with: own(100)},
		{args: "note.blend --yes", exit: 1, with: own(0)},
		{args: "shot/main.blend --yes", exit: 6, with: own(0), plain: true},
		{args: "shot/main.blend --allow-missing", exit: 130, with: own(100), types: []string{"[y/N/look] ", "\x03"}, plain: true},
		{args: "scene.blend --dry-run"},
		{exit: 2},
	}},
	{words: "rerender", when: online, lines: []line{
		{args: "{JOB} --frames 2 --out again", with: ownCompleted, types: []string{"[y/N/look] ", "y\n"}},
		{args: "{JOB} --frames 9 --yes", exit: 1, with: ownCompleted},
		{args: "{JOB} --yes", exit: 2, with: ownCompleted},
	}},
	{words: "look", when: online, lines: []line{
		{args: "scene.blend --show none", with: own(100), loose: true},
		{args: "scene.blend --frame 2000000", exit: 1, with: own(100)},
		{args: "scene.blend --frame -1", exit: 2},
	}},
	{words: "inspect", lines: []line{
		{args: "scene.blend"},
		{args: "shot/main.blend", plain: true},
		{args: "note.blend", exit: 1},
		{exit: 2},
	}},
	{words: "diff", lines: []line{
		{args: "revisions/scene.blend revisions/moved.blend"},
		{args: "revisions/scene.blend revisions/material.blend --frames 1-3", plain: true},
		{args: "revisions/scene.blend revisions/interface.blend", plain: true},
		{args: "scene.blend note.blend", exit: 1},
		{args: "scene.blend", exit: 2},
	}},
	{words: "pack", lines: []line{
		{args: "shot/main.blend --allow-missing"},
		{args: "shot/main.blend --out shot.zip", exit: 6},
		{args: "note.blend", exit: 1},
		{args: "scene.blend --out note.blend", exit: 2},
		{exit: 2},
	}},
	{words: "sync", lines: []line{
		{args: "{COMPLETED} synced"},
		{args: "{FAILED} synced", exit: 1},
		{args: noJob + " synced", exit: 1},
		{args: "{COMPLETED}", exit: 2},
	}},
	{words: "jobs", lines: []line{
		{},
		{args: "--status failed --key {ACCOUNT}", with: own(0)},
		{exit: 1, with: wrongKey},
		{args: "--limit 0", exit: 2},
		{exit: 2, with: noKey},
	}},
	{words: "job", lines: []line{
		{args: "{COMPLETED}"},
		{args: "{FAILED}"},
		{args: "{QUEUED}"},
		{args: noJob, exit: 1},
		{exit: 2},
	}},
	{words: "cancel", lines: []line{
		{args: "{JOB}", with: ownJob},
		{args: "{FAILED}", exit: 1},
		{exit: 2},
	}},
	{words: "pause", lines: []line{
		{args: "{JOB}", with: ownJob},
		{args: "{FAILED}", exit: 1},
		{exit: 2},
	}},
	{words: "resume", lines: []line{
		{args: "{JOB}", with: ownJob},
		{args: "{FAILED}", exit: 1},
		{exit: 2},
	}},
	{words: "priority", lines: []line{
		{args: "{JOB} 80", with: ownJob},
		{args: "{JOB} 101", exit: 1, with: ownJob, plain: true},
		{args: "{JOB}", exit: 2, with: ownJob},
	}},
	{words: "tag", lines: []line{
		{args: "{JOB} Shot-010 hero", with: ownJob},
		{args: "{JOB} --none", with: ownJob},
		{args: "{JOB} a,b", exit: 1, with: ownJob, plain: true},
		{args: "{JOB}", exit: 2, with: ownJob},
	}},
	{words: "download", lines: []line{
		{args: "{COMPLETED} --out frames"},
		{args: "{COMPLETED} --frames 2-3 --out some"},
		{args: "{QUEUED}", exit: 1},
		{args: "{FAILED}", exit: 1},
		{args: "{COMPLETED} --frames 9", exit: 2},
	}},
	{words: "preview", lines: []line{
		{args: "{COMPLETED} 2"},
		{args: "{COMPLETED} 9", exit: 1},
		{args: "{COMPLETED}", exit: 2},
	}},
	{words: "movie", when: online, lines: []line{
		{args: "{COMPLETED}"},
		{args: "{QUEUED}", exit: 1},
		{exit: 2},
	}},
	{words: "wallet", lines: []line{
		{},
		{args: "--alert-below-cents 500", with: ownAccount},
		{exit: 1, with: wrongKey},
		{args: "--limit 0", exit: 2},
	}},
	{words: "keys list", lines: []line{
		{with: accountKey},
		{exit: 2},
	}},
	{words: "keys revoke", lines: []line{
		{args: "{OWN-KEY}", with: ownAccount, types: asked},
		{args: "{OWN-KEY}", exit: 1, with: ownAccount, types: []string{"[y/N] ", "n\n"}, plain: true},
		{args: "key_00000000000000000000000000000000", exit: 1, with: ownAccount},
		{exit: 2, with: ownAccount},
	}},
	{words: "open", lines: []line{
		{args: "{COMPLETED}", plain: true},
		{args: "{QUEUED}", exit: 1, plain: true},
		{args: "--nonsense", exit: 2},
	}},
	{words: "listen", lines: []line{
		{args: "--forward-to http://127.0.0.1:9/hooks --after 0", types: []string{"render.cancelled", "\x03"}, plain: true, loose: true},
		{args: "--forward-to http://127.0.0.1:9/hooks --after msg_unknown", exit: 1, plain: true},
		{args: "--forward-to http://8.8.8.8/hooks", exit: 2},
	}},
	{words: "trigger", lines: []line{
		{args: "completed --frames 2", with: testKey},
		{args: "out_of_memory", with: testKey, plain: true},
		{args: "insufficient_funds", with: testKey, plain: true},
		{args: "completed", exit: 2},
		{args: "explosion", exit: 2},
	}},
	{words: "status", lines: []line{
		{},
		{with: noKey},
		{exit: 1, with: wrongKey},
		{args: "--server nowhere", exit: 2},
	}},
	{words: "login", lines: []line{
		{args: "--server {URL}/elsewhere", exit: 1, plain: true},
		{args: "--server {URL}", exit: 2, with: profiles, plain: true},
		{args: "--server nowhere", exit: 2, plain: true},
	}},
	{words: "logout", lines: []line{
		{plain: true},
		{args: "now", exit: 2, plain: true},
	}},
	{words: "config set", lines: []line{
		{args: "server https://render.example.com --profile studio", plain: true},
		{args: "key -", types: []string{"not shown: ", "svc_agent_AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK\n"}, plain: true},
		{args: "server nowhere", exit: 2},
	}},
	{words: "config get", lines: []line{
		{args: "server", with: profiles, plain: true},
		{args: "server --profile nobody", exit: 1, plain: true},
		{args: "nonsense", exit: 2},
	}},
	{words: "config list", lines: []line{
		{with: profiles},
		{},
		{args: "server", exit: 2},
	}},
	{words: "config use", lines: []line{
		{args: "default", plain: true},
		{args: "nobody", exit: 2},
		{exit: 2},
	}},
	{words: "config unset", lines: []line{
		{args: "key", with: profiles, plain: true},
		{args: "nonsense", exit: 2, with: profiles},
	}},
	{words: "config path", lines: []line{
		{plain: true},
		{args: "server", exit: 2},
	}},
	{words: "verify", lines: []line{
		{args: "out/receipt.json"},
		{args: "out/receipt.json --key out/signing-key.pem --artifact scene.blend", exit: 4},
		{args: "tested/receipt.json", exit: 3, with: testReceipt},
		{args: "tested/receipt.json --test", with: testReceipt},
		{args: "scene.blend --key out/signing-key.pem", exit: 3},
		{args: "nothing.json", exit: 2},
	}},
	{words: "mcp", lines: []line{
		{types: []string{"", "\x04"}, plain: true},
		{exit: 2, with: noKey},
	}},
	{words: "log verify", lines: []line{
		{},
		{args: "--checkpoint known", exit: 130, with: heldLog, types: []string{"leaves", "\x03"}, plain: true},
		{args: "--server {URL}/elsewhere", exit: 1},
		{args: "--server nowhere", exit: 2},
	}},
	{words: "frame-proof", lines: []line{
		{args: "out/receipt.json 2 -o frame.json", plain: true},
		{args: "out/receipt.json 99 -o frame.json", exit: 1, plain: true},
		{args: "out/receipt.json", exit: 2, plain: true},
	}},
	{words: "log watch", lines: []line{
		{args: "{URL} --state seen"},
		{args: "{URL}/elsewhere --state seen", exit: 1},
		{args: "{URL} --state seen --witness nobody", exit: 2},
		{args: "{URL}", exit: 2},
	}},
	{words: "log keys", lines: []line{
		{args: "{URL}/elsewhere", exit: 1},
		{args: "nowhere", exit: 2},
	}},
	{words: "log witness", lines: []line{
		{args: "--name witness.example.org --log nonsense --data witness", exit: 2, plain: true},
		{args: "--name witness.example.org --data witness", exit: 2, plain: true},
	}},
	{words: "demo", lines: []line{
		{args: "--blender ./none --out demo", exit: 1, plain: true},
		{args: "--frames nonsense", exit: 2},
	}},
	{words: "openapi", raw: true, lines: []line{
		{plain: true},
		{args: "extra", exit: 2},
	}},
	{words: "autoscale", lines: []line{
		{args: "--engine command --list-command /bin/true --start-command /bin/true --cancel-command /bin/true --max 2 --min 2 --once --dry-run", with: nodeKey},
		{args: "--engine command --list-command /bin/false --start-command /bin/true --cancel-command /bin/true --max 4 --once", exit: 1, with: nodeKey},
		{args: "--engine slurm --max 4 --once", exit: 2, with: nodeKey},
	}},
	{words: "completion", raw: true, lines: []line{
		{args: "bash", plain: true},
		{args: "tcsh", exit: 2},
	}},
	{words: "help", lines: []line{
		{args: "log verify", plain: true},
		{args: "rendre", exit: 2},
	}},
	{words: "version", lines: []line{
		{plain: true},
		{args: "extra", exit: 2},
	}},
}
