package main

import "strings"

// shownElsewhere are the verbs whose success needs what the stage has not.
var shownElsewhere = map[string]string{
	"worker doctor": "renders a frame with Blender: testdata/doctor.txtar of the stories",
	"bench":         "renders for a minute with Blender: TestBenchMeasuresThisMachine of the stories",
	"demo":          "renders with Blender: testdata/demo.txtar of the stories",
	"login":         "needs a person in a browser: testdata/signin/login.txtar",
	"log keys":      "prints keys that each service makes for itself: TestASplitViewIsCaughtByWatchAndByAWitness of the stories",
	"log witness":   "serves until it is stopped, with a key of its own: TestASplitViewIsCaughtByWatchAndByAWitness of the stories",
}

const noJob = "JOB-00000000000000000000000000000000"

// verbs is the table of the golden files.
var verbs = []verb{
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
	{words: "admin doctor", lines: []line{{}, {args: "--json"}, {args: "--blobs nowhere", exit: 2}}},
	{words: "admin workspace list", lines: []line{
		{},
		{args: "--limit 0", exit: 2},
	}},
	{words: "admin workspace show", lines: []line{
		{args: "{WORKSPACE}"},
		{args: "WSP-none", exit: 1},
		{exit: 2},
	}},
	{words: "admin workspace create", lines: []line{
		{args: "--email bert@example.org --credit-cents 500", with: ownStore},
		{args: "--email {EMAIL} --credit-cents 500", with: ownStore},
		{args: "--email you@example.org", with: noStore, plain: true},
		{args: "--email nonsense", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin workspace credit", lines: []line{
		{args: "{WORKSPACE} --cents 250 --reference invoice-17", with: ownStore, types: asked},
		{args: "{WORKSPACE} --cents 250", exit: 1, with: ownStore, types: []string{"[y/N] ", "n\n"}, plain: true},
		{args: "WSP-none --cents 250 --yes", exit: 1, with: ownStore},
		{args: "{WORKSPACE} --cents 0 --yes", exit: 2, with: ownStore},
	}},
	{words: "admin workspace refund", lines: []line{
		{args: "{COMPLETED} --cents 2", with: ownStore, types: asked},
		{args: "{COMPLETED} --cents 4 --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin workspace proof-page", lines: []line{
		{args: "--workspace {WORKSPACE} --off", with: ownStore, types: asked},
		{args: "--workspace WSP-none --off --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "autoscale", lines: []line{
		{args: "--engine command --list-command /bin/true --start-command /bin/true --cancel-command /bin/true --max 2 --min 2 --once --dry-run", with: nodeKey},
		{args: "--engine command --list-command /bin/false --start-command /bin/true --cancel-command /bin/true --max 4 --once", exit: 1, with: nodeKey},
		{args: "--engine slurm --max 4 --once", exit: 2, with: nodeKey},
	}},
	{words: "admin workspace retention", lines: []line{
		{args: "{WORKSPACE} --days 7", with: ownStore, types: asked},
		{args: "WSP-none --days 7 --yes", exit: 1, with: ownStore},
		{args: "{WORKSPACE}", exit: 2, with: ownStore},
	}},
	{words: "admin workspace limit", lines: []line{
		{args: "{WORKSPACE} --daily-cents 5000", with: ownStore, types: asked},
		{args: "WSP-none --daily-cents 5000 --yes", exit: 1, with: ownStore},
		{args: "{WORKSPACE}", exit: 2, with: ownStore},
	}},
	{words: "admin workspace freeze", lines: []line{
		{args: "{WORKSPACE} --reason 'a payment is disputed'", with: ownStore, types: asked},
		{args: "WSP-none --reason late --yes", exit: 1, with: ownStore},
		{args: "{WORKSPACE}", exit: 2, with: ownStore},
	}},
	{words: "admin workspace unfreeze", lines: []line{
		{args: "{WORKSPACE}", with: operated, types: asked},
		{args: "WSP-none --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin person operator", lines: []line{
		{args: "--email {EMAIL}", with: ownStore, types: asked},
		{with: operated},
		{args: "--email nobody@example.com --yes", exit: 1, with: ownStore},
		{args: "--off", exit: 2, with: ownStore},
	}},
	{words: "admin usage", lines: []line{
		{args: "--months 2"},
		{args: "--months 2 --csv", plain: true},
		{args: "--months 0", exit: 2},
	}},
	{words: "admin process list", lines: []line{
		{with: crashed},
		{with: noStore, exit: 2},
	}},
	{words: "admin reuse list", lines: []line{{with: differing}, {with: ownStore, plain: true}, {exit: 2, with: noStore}}},
	{words: "admin reuse reset", lines: []line{{args: "{CLASS}", with: differing, types: asked}, {args: "123456 --yes", exit: 1, with: ownStore}, {exit: 2, with: ownStore}}},
	{words: "admin act list", lines: []line{
		{with: operated},
		{with: noStore, exit: 2},
	}},
	{words: "admin job list", lines: []line{
		{},
		{args: "--status nonsense", exit: 2},
	}},
	{words: "admin job show", lines: []line{
		{args: "{FAILED}"},
		{args: "{QUEUED}"},
		{args: noJob, exit: 1},
		{exit: 2},
	}},
	{words: "admin job log", lines: []line{
		{args: "{FAILED} --output"},
		{args: "{QUEUED}"},
		{args: noJob, exit: 1},
		{exit: 2},
	}},
	{words: "admin job any-blender", lines: []line{
		{args: "{QUEUED} --reason 'its machine is gone'", with: ownStore, types: asked},
		{args: "{COMPLETED} --reason late --yes", exit: 1, with: ownStore},
		{args: "{QUEUED}", exit: 2, with: ownStore},
	}},
	{words: "admin job pause", lines: []line{
		{args: "{QUEUED} --reason 'its scene is examined'", with: ownStore, types: asked},
		{args: "{COMPLETED} --reason late --yes", exit: 1, with: ownStore},
		{args: "{QUEUED}", exit: 2, with: ownStore},
	}},
	{words: "admin job resume", lines: []line{
		{args: "{QUEUED}", with: ownStore, types: asked},
		{args: "{COMPLETED} --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin job priority", lines: []line{
		{args: "{QUEUED} 80", with: ownStore, types: asked},
		{args: "{QUEUED} 0 --yes", exit: 1, with: ownStore},
		{args: "{QUEUED}", exit: 2, with: ownStore},
	}},
	{words: "admin job cancel", lines: []line{
		{args: "{QUEUED}", with: ownStore, types: asked},
		{args: "{COMPLETED} --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin job fail", lines: []line{
		{args: "{QUEUED} --reason 'the scene holds what our terms forbid'", with: ownStore, types: asked},
		{args: "{COMPLETED} --reason late --yes", exit: 1, with: ownStore},
		{args: "{QUEUED}", exit: 2, with: ownStore},
	}},
	{words: "admin worker list", lines: []line{
		{},
		{args: "--within 1s"},
		{with: noStore, exit: 2},
	}},
	{words: "admin worker show", lines: []line{
		{args: "{WORKER}"},
		{args: "NOD-none", exit: 1},
		{exit: 2},
	}},
	{words: "admin worker drain", lines: []line{
		{args: "{WORKER}", with: ownStore, types: asked},
		{args: "NOD-none --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin worker forget", lines: []line{
		{args: "{WORKER}", with: ownStore, types: asked},
		{args: "NOD-none --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin test-world list", lines: []line{
		{with: tested},
		{with: ownStore, plain: true},
		{exit: 2, with: noStore},
	}},
	{words: "admin test-world remove", lines: []line{
		{args: "{WORKSPACE}", with: tested, types: asked},
		{args: "{WORKSPACE} --yes", exit: 1, with: ownStore},
		{exit: 2, with: tested},
	}},
	{words: "admin key create", lines: []line{
		{args: "--kind node --name rack-3", with: ownStore},
		{args: "--kind agent --name nightly --workspace WSP-none", exit: 1, with: ownStore},
		{args: "--kind agent --name nightly", exit: 2, with: ownStore},
	}},
	{words: "admin key list", lines: []line{
		{},
		{args: "--workspace {WORKSPACE}"},
		{args: "--workspace WSP-none", exit: 1},
		{with: noStore, exit: 2},
	}},
	{words: "admin key revoke", lines: []line{
		{args: "{KEY}", with: ownStore, types: asked},
		{args: "key_none --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin signing-key list", lines: []line{
		{},
		{with: noStore, exit: 2},
	}},
	{words: "admin signing-key rotate", lines: []line{
		{with: ownStore, types: asked},
		{exit: 1, with: ownStore, types: []string{"[y/N] ", "n\n"}, plain: true},
		{args: "--overlap -1s --yes", exit: 2, with: ownStore},
	}},
	{words: "admin signing-key end", lines: []line{
		{args: "{FIRST}", with: twoSigningKeys, types: asked},
		{args: "0000000000000000000000000000000000000000000000000000000000000000 --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin dead-letter list", lines: []line{
		{},
		{args: "--queue expire"},
		{with: noStore, exit: 2},
	}},
	{words: "admin dead-letter requeue", lines: []line{
		{args: "{DEAD}", with: ownStore, types: asked},
		{args: "expire:UPL-none:0 --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin leaderboard hide", lines: []line{
		{args: "{RESULT} --reason 'the clock of this machine was wrong'", with: ownStore, types: asked},
		{args: "BMR-none --reason why --yes", exit: 1, with: ownStore},
		{args: "{RESULT}", exit: 2, with: ownStore},
	}},
	{words: "admin leaderboard show", lines: []line{
		{args: "{RESULT}", with: hidden, types: asked},
		{args: "BMR-none --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin backup", lines: []line{
		{args: "copy"},
		{args: "copy", exit: 130, with: heldStore, types: []string{"", "\x03"}, plain: true},
		{args: "out", exit: 2},
	}},
	{words: "admin restore", lines: []line{
		{args: "../backup", with: noStore, types: asked},
		{args: "../backup", exit: 130, with: noStore, types: []string{"[y/N] ", "\x03"}, plain: true},
		{args: "../backup --yes", exit: 130, with: heldDatabase, types: []string{"", "\x03"}, plain: true},
		{args: "out --yes", exit: 2, with: noStore},
	}},
	{words: "admin move", lines: []line{
		{with: toS3, types: asked},
		{args: "--to-blobs https://bucket", exit: 2},
		{args: "--to-blobs s3://bucket", with: noStore, exit: 2, types: asked},
		{exit: 2},
	}},
	{words: "admin erase-workspace", lines: []line{
		{args: "{WORKSPACE}", with: nothingRuns, types: asked},
		{args: "{WORKSPACE} --yes", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin sign-in-link", lines: []line{
		{args: "--email anna@example.org --public-url https://render.example.org", with: ownStore},
		{args: "--email nobody", exit: 1, with: ownStore},
		{exit: 2, with: ownStore},
	}},
	{words: "admin audit", lines: []line{
		{},
		{with: unsound, exit: 1},
		{exit: 130, with: heldStore, types: []string{"", "\x03"}, plain: true},
		{with: noStore, exit: 2},
	}},
	{words: "admin reconcile", lines: []line{
		{with: payable},
		{with: unknownPage, exit: 1},
		{args: "--from yesterday", with: payable, exit: 2},
		{exit: 2, with: ownStore},
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
