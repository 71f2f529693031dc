package redact_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/redact"
)

const secret = "AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK"

func TestASecretIsTakenOutOfAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"unexpected argument svc_agent_" + secret:                                   "unexpected argument svc_agent_AAAABBBB…",
		"svc_" + secret + " and svc_node_" + secret:                                 "svc_AAAABBBB… and svc_node_AAAABBBB…",
		"svc_agent_" + secret[:25] + " was cut":                                     "svc_agent_AAAABBBB… was cut",
		`Get "https://h/v1/artifacts/J?expires=17&signature=abc": EOF`:              `Get "https://h/v1/artifacts/J?expires=17&signature=…": EOF`,
		"https://s3.example/b?X-Amz-Credential=me&X-Amz-Date=1&X-Amz-Signature=abc": "https://s3.example/b?X-Amz-Credential=…&X-Amz-Date=1&X-Amz-Signature=…",
		"http://h/v1/auth/callback?token=abc":                                       "http://h/v1/auth/callback?token=…",
		"https://anna:hunter2@h/x":                                                  "https://…@h/x",
		"postgres://u:p@h/db":                                                       "postgres://…@h/db",
		"Authorization: Bearer abcdefgh.ijkl":                                       "Authorization: Bearer …",
		"whsec_c2VjcmV0LW9mLXRoZS1z is the secret":                                  "whsec_… is the secret",
		"v1," + strings.Repeat("A", 43) + "=":                                       "v1,…",
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\nrest":        "-----BEGIN PRIVATE KEY-----…-----END PRIVATE KEY-----\nrest",
		// What is no secret stays.
		"svc_download and svc_inspect of JOB-0123456789abcdef0123456789abcdef": "svc_download and svc_inspect of JOB-0123456789abcdef0123456789abcdef",
		"svc_agent_AAAABBBB…": "svc_agent_AAAABBBB…",
		"mail anna@example.org about https://h/a?before=17&limit=20": "mail anna@example.org about https://h/a?before=17&limit=20",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("%q\nis shown as %q\nwant        %q", text, got, want)
		}
		if again := redact.Text(want); again != want {
			t.Errorf("%q is shown as %q", want, again)
		}
	}
}

func TestAnAddressKeepsItsHostAndPath(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://h/v1/artifacts/J?signature=abc": "https://h/v1/artifacts/J",
		"https://anna:hunter2@h:8/x#y":           "https://h:8/x",
		"https://h":                              "https://h",
		"https://h/":                             "https://h/",
		"https://h?a=b":                          "https://h",
		"https://a@b@h/c@d":                      "https://h/c@d",
		"/path?signature=abc":                    "/path",
		":%zz?signature=abc":                     ":%zz",
		"":                                       "",
	} {
		if got := redact.Address(address); got != want {
			t.Errorf("%q is %q, want %q", address, got, want)
		}
	}
}

// TestAFailedRequestTellsNoLink makes the errors of net/http as it makes them.
func TestAFailedRequestTellsNoLink(t *testing.T) {
	t.Parallel()
	const link = "http://127.0.0.1:1/v1/artifacts/J?signature=abcdef"
	_, refused := http.Get(link)
	_, unreadable := http.NewRequest(http.MethodGet, "http://h/%zz?signature=abcdef", nil)
	inner := &url.Error{Op: "Get", URL: link, Err: errors.New("inner")}
	outer := &url.Error{Op: "Get", URL: link, Err: errors.Join(errors.New("outer"), inner)}
	for _, err := range []error{refused, unreadable, outer} {
		if err == nil || !strings.Contains(err.Error(), "abcdef") {
			t.Fatalf("%v has no link to hide", err)
		}
		if said := redact.URLs(err).Error(); strings.Contains(said, "abcdef") {
			t.Error(said)
		}
	}
	if redact.URLs(nil) != nil {
		t.Error("nothing has become an error")
	}
}

// Calls that end because one of them failed have its error in theirs.
func TestAnErrorOfSeveralGoroutinesIsChangedOnceOnly(t *testing.T) {
	t.Parallel()
	shared := redact.URLs(&url.Error{Op: "Put", URL: "http://127.0.0.1/x?signature=abcdef", Err: errors.New("it broke")})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if said := redact.URLs(&url.Error{Op: "Put", URL: "http://127.0.0.1/y?signature=abcdef", Err: shared}).Error(); strings.Contains(said, "abcdef") {
				t.Error(said)
			}
		})
	}
	all.Wait()
}
