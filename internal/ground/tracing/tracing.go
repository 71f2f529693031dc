// Package tracing reports to an OpenTelemetry collector what svc does, and how long each
// part takes: requests, transactions of the database, calls of the file store, deliveries of
// webhooks, frames of a worker. It does so where the environment names a collector
// (OTEL_EXPORTER_OTLP_ENDPOINT), and costs next to nothing elsewhere.
//
// What always holds: nothing waits for a collector. What it does not accept in time is
// dropped, and the log says so at most once an hour. A span has routes, ids, counts and
// times; never a key, an address, a name of a scene or of a person. The trace of a caller is
// linked and never continued: callers decide neither what is traced nor where it goes.
//
// The package that makes a span decides what it covers. Start reading at Start.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope names svc as the maker of its spans.
const scope = "svc"

// flushTimeout bounds how long a stop waits for the collector to take the last spans.
const flushTimeout = 3 * time.Second

// complainEvery is how often the log says that spans are not taken.
const complainEvery = time.Hour

// enabled reports whether the environment names a collector. Errors: a value of a variable
// that svc does not know.
func enabled() (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return false, nil
	}
	switch exporter := os.Getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "", "otlp":
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER is %q; svc knows otlp and none", exporter)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			return false, fmt.Errorf("%s is %q; svc speaks http/protobuf", name, protocol)
		}
	}
	return true, nil
}

// Start has the spans of this process sent, if the environment names a collector, as the
// service of that name unless OTEL_SERVICE_NAME says another. The variables are those of
// OpenTelemetry. stop sends what is left and may be called twice. Errors: a variable with a
// value that svc does not know.
func Start(ctx context.Context, log *slog.Logger, name string) (stop func(), err error) {
	on, err := enabled()
	if !on {
		return func() {}, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	// If something is named twice, the last counts: the environment.
	self, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", name), attribute.String("service.version", version())), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("traces: %w", err), exporter.Shutdown(ctx))
	}
	otel.SetErrorHandler(&complaints{log: log})
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(self))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := provider.Shutdown(limited); err != nil {
			otel.Handle(err)
		}
	}, nil
}

// version is that of the module, as svc version has it.
func version() string {
	if built, ok := debug.ReadBuildInfo(); ok {
		return built.Main.Version
	}
	return "unknown"
}

// complaints logs that spans are not taken, once in a while.
type complaints struct {
	log  *slog.Logger
	last atomic.Int64 // Unix nanoseconds
}

// Handle implements otel.ErrorHandler.
func (c *complaints) Handle(err error) {
	now, last := time.Now().UnixNano(), c.last.Load()
	if (last == 0 || now-last >= int64(complainEvery)) && c.last.CompareAndSwap(last, now) {
		c.log.Warn("the collector of traces does not take them", "err", err)
	}
}

// Frame names a frame's attempt.
func Frame(jobID string, frame, attempt int) []attribute.KeyValue {
	return []attribute.KeyValue{JobID(jobID), attribute.Int("svc.frame", frame), attribute.Int("svc.attempt", attempt)}
}

// JobID is the attribute that joins what happens to a job in different traces.
func JobID(id string) attribute.KeyValue { return attribute.String("svc.job_id", id) }

// Root begins a span of work that no request asked for. end ends it, as failed if err is
// set. The text of an error may name what a span must not, so only the log has it.
func Root(ctx context.Context, name string, about ...attribute.KeyValue) (inner context.Context, end func(err error)) {
	inner, span := otel.Tracer(scope).Start(ctx, name, trace.WithNewRoot(), trace.WithAttributes(about...))
	return inner, ending(span)
}

// Child begins a span within that of ctx; if ctx has none, it makes none. end is that of
// Root.
func Child(ctx context.Context, name string, about ...attribute.KeyValue) (inner context.Context, end func(err error)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(error) {}
	}
	inner, span := otel.Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(about...))
	return inner, ending(span)
}

func ending(span trace.Span) func(error) {
	return func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Past records a span that ends now and took so long.
func Past(ctx context.Context, name string, took time.Duration, failed bool, about ...attribute.KeyValue) {
	now := time.Now()
	_, span := otel.Tracer(scope).Start(ctx, name, trace.WithTimestamp(now.Add(-took)), trace.WithAttributes(about...))
	if failed {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(now))
}

// ID is the id of the trace that ctx belongs to, "" where nothing is traced.
func ID(ctx context.Context) string {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return span.SpanContext().TraceID().String()
	}
	return ""
}

// Request begins the span of a request that came in. pattern is the route as registered
// ("GET /v1/jobs/{job_id}"), "" when none matched. done ends it; workspaceID is the caller's, ""
// of a stranger.
func Request(ctx context.Context, r *http.Request, pattern string) (inner context.Context, done func(status int, workspaceID string)) {
	method, route, matched := strings.Cut(pattern, " ")
	name := pattern
	if !matched {
		method, route = "_OTHER", pattern
	}
	if pattern == "" {
		name = "no route"
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithNewRoot()}
	remote := otel.GetTextMapPropagator().Extract(context.Background(), propagation.HeaderCarrier(r.Header))
	if from := trace.SpanContextFromContext(remote); from.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: from}))
	}
	inner, span := otel.Tracer(scope).Start(ctx, name, options...)
	if !span.IsRecording() {
		return inner, func(int, string) {}
	}
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route))
	if id := jobOf(route, r.URL.Path); id != "" {
		span.SetAttributes(JobID(id))
	}
	return inner, func(status int, workspaceID string) {
		span.SetAttributes(attribute.Int("http.response.status_code", status), attribute.String("svc.workspace_id", workspaceID))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// jobOf is the id of a job in a path, where the route has one; "" for what is no id.
func jobOf(route, path string) string {
	at := strings.Split(path, "/")
	for i, part := range strings.Split(route, "/") {
		if part == "{job_id}" && i < len(at) && jobForm.MatchString(at[i]) {
			return at[i]
		}
	}
	return ""
}

var jobForm = regexp.MustCompile(`^JOB-[0-9a-f]{32}$`)

// Tell writes into the headers of a request which trace it belongs to.
func Tell(ctx context.Context, h http.Header) {
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(h))
}

// Transport makes a span of each call that goes through next, within that of the caller's
// context, and tells the other side which trace it belongs to if tell says so. name is what
// the calls are called; the method is added.
func Transport(next http.RoundTripper, name string, tell bool) http.RoundTripper {
	return traced{next, name, tell}
}

type traced struct {
	next http.RoundTripper
	name string
	tell bool
}

// RoundTrip implements http.RoundTripper.
func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, end := Child(r.Context(), t.name+" "+r.Method, attribute.String("http.request.method", r.Method))
	if ctx == r.Context() {
		return t.next.RoundTrip(r)
	}
	if t.tell {
		r = r.Clone(ctx)
		Tell(ctx, r.Header)
	} else {
		r = r.WithContext(ctx)
	}
	answer, err := t.next.RoundTrip(r)
	if err == nil {
		trace.SpanFromContext(ctx).SetAttributes(attribute.Int("http.response.status_code", answer.StatusCode))
	}
	end(err)
	return answer, err
}
