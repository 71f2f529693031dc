package main

// adminVerbs are the part of the table for svc admin.
var adminVerbs = []verb{
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
	{words: "admin workspace retention", lines: []line{
		{args: "{WORKSPACE} --days 7", with: ownStore, types: asked},
		{args: "WSP-none --days 7 --yes", exit: 1, with: ownStore},
		{args: "{WORKSPACE}", exit: 2, with: ownStore},
	}},
	{words: "admin workspace tags", lines: []line{
		{args: "{WORKSPACE} rtx studio-b", with: ownStore, types: asked},
		{args: "{WORKSPACE} --none --yes", with: ownStore},
		{args: "{WORKSPACE} RTX --yes", exit: 1, with: ownStore},
		{args: "WSP-none rtx --yes", exit: 1, with: ownStore},
		{args: "{WORKSPACE}", exit: 2, with: ownStore},
	}},
	{words: "admin workspace frames", lines: []line{
		{args: "{WORKSPACE} --at-once 8", with: ownStore, types: asked},
		{args: "WSP-none --at-once 8 --yes", exit: 1, with: ownStore},
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
	{words: "admin invoice show", lines: []line{{}, {args: "now", exit: 2}}},
	{words: "admin invoice set", lines: []line{
		{args: "--company 'Render Farm GmbH' --address 'Example Street 1' --address '10115 Berlin' --tax-id DE123456789 --tax-basis-points 1900 --prefix 2027-", with: ownStore, types: asked},
		{args: "--prefix A1 --yes", exit: 1, with: ownStore},
		{args: "--tax-basis-points much", exit: 2, with: ownStore},
	}},
	{words: "admin invoice list", lines: []line{
		{},
		{args: "--csv", plain: true},
		{args: "--before INV-000009", exit: 1},
		{args: "--limit 0", exit: 2},
	}},
	{words: "admin invoice pdf", lines: []line{
		{args: "INV-000009 --out invoice.pdf", exit: 1},
		{args: "INV-000009", exit: 2},
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
	{words: "admin alert list", lines: []line{{with: troubled}, {with: ownStore, plain: true}, {exit: 2, with: noStore}}},
	{words: "admin alert test", lines: []line{{with: ownStore, types: asked}, {args: "--yes", exit: 2, with: noStore}}},
	{words: "admin domain list", lines: []line{{with: joining}, {with: ownStore, plain: true}, {exit: 2, with: noStore}}},
	{words: "admin domain release", lines: []line{{args: "studio.example", with: joining, types: asked}, {args: "none.example --yes", exit: 1, with: ownStore}, {exit: 2, with: ownStore}}},
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
	{words: "admin operator-key create", lines: []line{
		{args: "--name dashboard", with: ownStore}, {args: "--name ansible --scope write --days 90", with: ownStore}, {args: "--name x --days 4000", exit: 2, with: ownStore},
	}},
	{words: "admin operator-key list", lines: []line{{with: ownStore}, {exit: 2, with: noStore}}},
	{words: "admin operator-key revoke", lines: []line{
		{args: "{OPERATOR_KEY}", with: ownStore, types: asked}, {args: "{KEY} --yes", exit: 1, with: ownStore}, {args: "key_none --yes", exit: 1, with: ownStore}, {args: "key_none --yes", exit: 2, with: noStore},
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
}
