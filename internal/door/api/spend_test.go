package api_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/operator"
)

// TestProgramsReadWhatWasSpentByMonthPersonKeyAndTags: each division adds up to what the ledger
// charged and refunded. An agent key reads none of it, and no other workspace is in it.
func TestProgramsReadWhatWasSpentByMonthPersonKeyAndTags(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		tagged, plain := s.completed(), s.completed()
		s.call("PUT", "/v1/renders/"+tagged+"/tags", s.account, jsonBody(`{"tags":["hero","night"]}`))
		s.act(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
			return operator.Refund(ctx, tx, plain, "a mistake", 1)
		})
		charged, month := 0.0, ""
		for _, e := range s.call("GET", "/v1/wallet/transactions", s.account, body{}).body["transactions"].([]any) {
			if entry := e.(map[string]any); entry["kind"] == "capture" {
				charged += entry["amount_cents"].(float64)
				month = entry["created_at"].(string)[:len("2026-11")]
			}
		}
		spend := func(query string) (rows []string) {
			t.Helper()
			a := s.call("GET", "/v1/wallet/spend?"+query, s.account, body{})
			sum := 0.0
			for _, each := range a.body["rows"].([]any) {
				row := each.(map[string]any)
				sum += row["spent_cents"].(float64)
				rows = append(rows, fmt.Sprint(row["month"], row["tags"], row["started_by"]))
			}
			if a.body["charged_cents"] != charged || a.body["refunded_cents"] != 1.0 || a.body["spent_cents"] != charged-1 || sum != charged-1 || a.body["rows_left_out"] != 0.0 {
				t.Errorf("%s: %v adds up to %v, the ledger to %v and 1 refunded", query, a.body, sum, charged)
			}
			return rows
		}
		who := s.call("GET", "/v1/renders/"+tagged, s.account, body{}).body["started_by"].(map[string]any)
		for query, want := range map[string][]string{
			"": {month}, "by=month&month=" + month: {month}, "by=tags": {"[hero night]", "<nil>"}, "by=key": {fmt.Sprint(who["key_id"])}, "by=person&month=" + month: {"kind:"},
		} {
			rows := spend(query)
			for i, part := range want {
				if len(rows) != len(want) || !strings.Contains(rows[i], part) {
					t.Errorf("%s: %v lack %s", query, rows, part)
				}
			}
			if text := strings.Join(rows, ""); strings.Contains(text, s.owner) {
				t.Errorf("%s: programs read a whole address: %s", query, text)
			}
		}
		for _, empty := range []string{"month=2001-01", "by=tags&month=9999-12", "by=key&month=0001-01"} {
			if a := s.call("GET", "/v1/wallet/spend?"+empty, s.account, body{}); a.status != 200 || len(a.body["rows"].([]any)) != 0 || a.body["spent_cents"] != 0.0 {
				t.Errorf("%s: %d %v", empty, a.status, a.body)
			}
		}
		for _, wrong := range []string{"by=job", "month=2026-13", "month=2026", "month=2026-1", "month=" + url.QueryEscape("2026-01' OR '1'='1")} {
			if a := s.call("GET", "/v1/wallet/spend?"+wrong, s.account, body{}); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("%s: %d %s", wrong, a.status, a.code())
			}
		}
		for _, key := range []string{s.agent, s.stranger, ""} {
			if a := s.call("GET", "/v1/wallet/spend", key, body{}); a.status != 401 {
				t.Errorf("without an account key: %d %v", a.status, a.body)
			}
		}
	})
}
