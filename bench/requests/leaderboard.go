package requests

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/door/api"
	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

const (
	boardMany     = 1 << 20 // results on the measured leaderboard
	boardFew      = 10_000  // results on the baseline
	boardGPUs     = 200     // different GPUs on each
	boardAtOnce   = 1 << 9  // rows of one INSERT
	boardRequests = 41      // requests of each route; the median counts
)

// boardRoutes returns the routes to measure; {result} stands for the id of a result.
func boardRoutes() []string {
	return []string{
		"top", "stats", "gpus", "latest?limit=100", "result/{result}", "gpu/nvidia-geforce-rtx-1007",
		"compare/nvidia-geforce-rtx-1007/nvidia-geforce-rtx-1042", "search?q=rtx+1007", "rank?score=4000",
	}
}

// Leaderboard measures every route of the benchmark API, from the request to the written
// response, with a million results. The baseline is the same with ten thousand.
func Leaderboard(engine string) rounds.Group {
	g := rounds.Group{Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
		return measureLeaderboard(ctx, b, into, engine)
	}}
	for _, route := range boardRoutes() {
		g.Rows = append(g.Rows, rounds.Row{
			Name: rowBoard(engine, route), Unit: rounds.Duration, Goal: rounds.Under(0.020, rounds.Duration), Baseline: "at 10 k results",
			Note: "median of 41; the ratio is the cost of a hundred times as many results",
		})
	}
	return g
}

func rowBoard(engine, route string) string {
	name, _, _ := strings.Cut(strings.ReplaceAll(route, "?", "/"), "/")
	return "board/" + engine + ", " + name + " at 1 M results"
}

// board is a filled leaderboard and its routes.
type board struct {
	store  *db.DB
	mux    *http.ServeMux
	result string // id of a result that was submitted, so it has a receipt
	close  func() error
}

func measureLeaderboard(ctx context.Context, b *rounds.Run, into rounds.Record, engine string) (err error) {
	many, err := openBoard(ctx, b, engine, boardMany)
	if err != nil {
		return fmt.Errorf("fill the leaderboard: %w", err)
	}
	defer func() { err = errors.Join(err, many.close()) }()
	few, err := openBoard(ctx, b, engine, boardFew)
	if err != nil {
		return fmt.Errorf("fill the baseline leaderboard: %w", err)
	}
	defer func() { err = errors.Join(err, few.close()) }()
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		for _, route := range boardRoutes() {
			var subject, baseline float64
			err := b.Turns(func() (err error) {
				subject, err = many.ask(ctx, route)
				return err
			}, func() (err error) {
				baseline, err = few.ask(ctx, route)
				return err
			})
			if err != nil {
				return err
			}
			r.Add(rowBoard(engine, route), subject, baseline)
		}
		return nil
	})
}

// ask returns the median time of a route, in seconds.
func (h *board) ask(ctx context.Context, route string) (float64, error) {
	took := make([]float64, boardRequests)
	for i := range took {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/node/v1/leaderboard/"+strings.ReplaceAll(route, "{result}", h.result), nil)
		w := httptest.NewRecorder()
		began := time.Now()
		h.mux.ServeHTTP(w, r)
		took[i] = time.Since(began).Seconds()
		if w.Code != http.StatusOK {
			return 0, fmt.Errorf("%s: %d %s", route, w.Code, w.Body)
		}
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// openBoard fills a database and submits one result as a worker does.
func openBoard(ctx context.Context, b *rounds.Run, engine string, results int) (*board, error) {
	b.Say("filling in %d results on %s", results, engine)
	address, drop, err := b.Database(ctx, engine)
	if err != nil {
		return nil, err
	}
	store, err := db.Open(ctx, db.Config{URL: address})
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	h := &board{store: store, mux: http.NewServeMux(), close: func() error { return errors.Join(store.Close(), drop()) }}
	if err := h.fill(ctx, engine, address, results); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *board) fill(ctx context.Context, engine, address string, results int) error {
	key, err := signingkey.New(rand.Reader)
	if err != nil {
		return err
	}
	board := &leaderboard.Board{DB: h.store, Keys: signing.Given(key), Links: links.Links{PublicURL: "https://bench.example.com"}, AllowSynthetic: true}
	err = h.store.Write(ctx, func(tx *db.Tx) error {
		return errors.Join(board.Keys.Register(ctx, tx), receiptlog.Name(ctx, tx, "bench.example.com/log"))
	})
	if err != nil {
		return err
	}
	plain, err := rounds.OpenPlain(ctx, engine, address)
	if err != nil {
		return err
	}
	if err := errors.Join(fillBoard(ctx, plain, results), plain.Close()); err != nil {
		return err
	}
	fleet, err := leaderboardtest.NewFleet(ctx, board)
	if err != nil {
		return err
	}
	done, err := fleet.Submit(ctx, leaderboardtest.Run("NVIDIA GeForce RTX 1007", 24, 4000, time.Now()))
	if err != nil || done.Reason != "" {
		return errors.Join(err, fmt.Errorf("submit a result: %s", done.Detail))
	}
	h.result = done.ResultID
	api.Routes(h.mux, api.Config{DB: h.store, Board: board, Links: board.Links, Errors: &front.Errors{Log: slog.Default()}})
	return nil
}

// fillBoard writes the rows of that many accepted results, without their receipts. Scores
// vary around a mean of each GPU, and the database computes all sums from the results. Each result is of a key of its own. Its
// medians and averages are plain means: what is measured is the reading of them.
func fillBoard(ctx context.Context, plain *sql.DB, results int) error {
	tx, err := plain.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	v := leaderboard.Current()
	versions := fmt.Sprintf("'%s', '%s', '%s'", v.Benchmark, v.Scene, v.Scoring)
	const group = "INSERT INTO benchmark_group (group_id, benchmark_version, scene_version, scoring_version, gpu_slug, gpu_name, gpu_vendor, folded, vram_gb, results, synthetic, score_mean, score_median, score_top, time_mean, time_median, time_best, updated_at) "
	if _, err := tx.ExecContext(ctx, group+"VALUES (1, "+versions+", '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)"); err != nil {
		return err
	}
	chance := mathrand.New(mathrand.NewPCG(1, 2))
	rows := make([]string, results)
	for i := range rows {
		gpu := chance.IntN(boardGPUs)
		score := int64(max(1000, (500+float64(gpu)*45)*1000*(1+0.05*chance.NormFloat64())))
		rows[i] = fmt.Sprintf("(%d, 'BMR-%032x', 'RCT-%032x', 1, %d, 'NVIDIA GeForce RTX %d', 'NVIDIA GeForce RTX %[5]d', 'nvidia-geforce-rtx-%[5]d', 24, %[6]d, %[7]d, 1, %[8]d, 'key %[1]d', 'synthetic', 1)",
			i+1, i, i, gpu+2, 1000+gpu, score, 90_000+chance.IntN(5000), int64(1_700_000_000_000_000)+int64(i))
	}
	for first := 0; first < len(rows); first += boardAtOnce {
		if _, err := tx.ExecContext(ctx, "INSERT INTO benchmark_result (number, result_id, receipt_id, board_id, group_id, device_name, gpu_name, gpu_slug, vram_gb, score, time_ms, synthetic, created_at, worker_key_id, standing, speaks) VALUES "+
			strings.Join(rows[first:min(first+boardAtOnce, len(rows))], ", ")); err != nil {
			return err
		}
	}
	// Each result has one of 200 GPUs, 50 drivers and 1000 CPUs.
	statements := []string{
		group + "SELECT group_id, " + versions + ", gpu_slug, gpu_name, 'NVIDIA', lower(gpu_name) || ' ' || gpu_slug, 24, count(*), count(*), CAST(avg(score) AS bigint), CAST(avg(score) AS bigint), max(score), CAST(avg(time_ms) AS bigint), CAST(avg(time_ms) AS bigint), min(time_ms), 1 " +
			"FROM benchmark_result GROUP BY group_id, gpu_slug, gpu_name",
		"UPDATE benchmark_group SET results = (SELECT count(*) FROM benchmark_result), synthetic = (SELECT count(*) FROM benchmark_result), " +
			"score_mean = (SELECT CAST(avg(score) AS bigint) FROM benchmark_result), score_median = (SELECT CAST(avg(score) AS bigint) FROM benchmark_result), score_top = (SELECT max(score) FROM benchmark_result) WHERE group_id = 1",
		"INSERT INTO benchmark_facet (facet_id, field, value, folded) SELECT group_id, 'gpu', gpu_name, lower(gpu_name) || ' ' || gpu_slug FROM benchmark_group WHERE gpu_slug <> ''",
		"INSERT INTO benchmark_posting (facet_id, number) SELECT group_id, number FROM benchmark_result",
		fmt.Sprintf("UPDATE benchmark_counter SET last_number = %d, last_group = %d, last_facet = 2000", results, boardGPUs+1),
	}
	for i := range 1050 {
		field := [2]string{"driver", fmt.Sprintf("550.%d", i)}
		if i >= 50 {
			field = [2]string{"cpu", fmt.Sprintf("CPU model %d", i)}
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO benchmark_facet (facet_id, field, value, folded) VALUES (%d, '%s', '%s', lower('%[3]s'))", 500+i, field[0], field[1]))
	}
	statements = append(statements,
		"INSERT INTO benchmark_posting (facet_id, number) SELECT 500 + number % 50, number FROM benchmark_result",
		"INSERT INTO benchmark_posting (facet_id, number) SELECT 550 + number % 1000, number FROM benchmark_result")
	for level := range 5 {
		for _, tally := range [][3]string{{"board_id", "0", "score"}, {"group_id", "0", "score"}, {"group_id", "1", "time_ms"}} {
			statements = append(statements, fmt.Sprintf("INSERT INTO benchmark_tally (group_id, measure, level, bucket, results, total) SELECT %s, %s, %d, %s >> %d, count(*), sum(%[4]s) FROM benchmark_result GROUP BY %[1]s, %[4]s >> %[5]d",
				tally[0], tally[1], level, tally[2], 6*level))
		}
	}
	for _, statement := range append(statements, "ANALYZE") {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	return tx.Commit()
}
