package damage_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// unseen are the columns of which the audit does not see each damage, and why. docs/audit.md
// prints the same table.
var unseen = []struct{ columns, why string }{
	{"account_key.last_used_at agent_key.last_used_at node_key.last_used_at operator_key.last_used_at worker.seen_at", "It changes with every request. It is for people, and decides nothing but who counts as online."},
	{"worker.left_at", "When a worker left. It decides nothing but who counts as online."},
	{"lease.due_at lease.lapses_at lease.progress lease.last_code lease.last_error lease.lapsed_holder", "A lease changes too often for a checksum. A wrong time makes work late or has it done again, and fencing keeps its result single."},
	{"pulse.pulse_id pulse.written_at pulse.heard_at pulse.together_until pulse.probed_at", "Whether the service hears its workers. It changes every second while frames are rendered, and moves only when a lease lapses."},
	{"turn.served_us turn.counted_us", "They grow with every frame, and decide whose turn is next."},
	{"turn.plays turn.plays_from turn.played turn.play_us", "They decide which frames of a job a worker gets, and when. A frame's picture is the same whichever worker gets it."},
	{"turn.priority", "It decides which of a workspace's jobs comes first. Its owner sets it, and sees it in the job."},
	{"turn.kind", "It is the Blender version and the denoising of the first frame. A wrong one lets the job wait, or lets workers of two kinds share it, which the receipt then says."},
	{"turn.needs", "It follows from the scene when the job starts. A wrong one lets the job wait, or gives its frames to a worker whose Blender cannot read one of its files."},
	{"rate_limit.client rate_limit.arrival", "A row lives for as long as a burst counts, a minute or so."},
	{"idempotency.lapses_at", "It changes while a request is worked on, and means nothing afterwards."},
	{"webhook_delivery.created_at webhook_delivery.ended_at", "Nothing repeats when a delivery was asked for and ended. Its tries carry checksums."},
	{"frame.log", "Blender's output. It is forgotten before the frame."},
	{"share.views share.viewed_at", "How often a shared page was opened, and when last. They change with each visit, and decide nothing."},
	{"notice.created_at notice_reader.sent_at comment_notice.created_at comment_notice.comments", "What a mail counts, in which order, and when the next may come."},
	{"operator_alert.name operator_alert.since operator_alert.told_at", "What operators were told of. A wrong row tells them once too often, or too late."},
	{"top_up.checked_at", "When the provider was last asked about an open payment. A wrong one has it asked earlier or later."},
	{"job.movie", "Whether a link shows."},
	{"job.claimed_at", "The lease that it came from is gone. It lies between the job's other times."},
}

func unseenColumns() (all []string) {
	for _, u := range unseen {
		all = append(all, strings.Fields(u.columns)...)
	}
	return all
}

// TestWhatTheAuditMustSeeIsNotListedAsUnseen, and the document lists what is.
func TestWhatTheAuditMustSeeIsNotListedAsUnseen(t *testing.T) {
	t.Parallel()
	for _, c := range unseenColumns() {
		if class := classOf(c); class != "" {
			t.Errorf("%s is %s", c, class)
		}
	}
	table := "| columns | why |\n|---|---|\n"
	for _, u := range unseen {
		table += fmt.Sprintf("| `%s` | %s |\n", strings.ReplaceAll(u.columns, " ", "`, `"), u.why)
	}
	document, err := os.ReadFile("../../../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(document), "\n\n"+table+"\n") {
		t.Errorf("docs/audit.md has another table of what is unseen; it should be\n%s", table)
	}
}
