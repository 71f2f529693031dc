package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

// TestSignIn runs the scripts in testdata/signin, with the services of TestAccount. They
// need a browser, which person is: a program of this machine, so that they do not run in Wine.
func TestSignIn(t *testing.T) {
	t.Parallel()
	scripts := accountScripts(t)
	scripts.Dir = "testdata/signin"
	testscript.Run(t, scripts)
}

// sessionOf signs a person in and returns the value of their cookie.
func sessionOf(store *db.DB, email string) (session string, err error) {
	ctx := context.Background()
	err = store.Write(ctx, func(tx *db.Tx) error {
		token, err := identity.CreateSignInLink(ctx, tx, email)
		if err != nil {
			return err
		}
		opened, err := identity.SignIn(ctx, tx, token, "")
		session = opened.Token
		return err
	})
	return session, err
}

// person is the browser of scripts (BROWSER=person): a person who is signed in opens the
// address and answers the question there with PERSON_ANSWER, allow or deny.
func person() {
	if err := answerPage(os.Args[1], os.Getenv("PERSON_SESSION"), os.Getenv("PERSON_ANSWER")); err != nil {
		panic(err)
	}
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	formTarget  = regexp.MustCompile(`action="(/oauth/[a-z/]+)"`)
)

// answerPage opens a page of consent and sends its form.
func answerPage(address, session, answer string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	base := at.Scheme + "://" + at.Host
	ask := func(method, to string, form url.Values) (string, error) {
		r, err := http.NewRequestWithContext(context.Background(), method, to, strings.NewReader(form.Encode()))
		if err != nil {
			return "", err
		}
		r.Header.Set("Origin", base)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: contract.SessionCookie, Value: session})
		res, err := http.DefaultClient.Do(r) // it follows to the program that waits
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s %s answers with %s: %s", method, to, res.Status, text)
		}
		return string(text), err
	}
	page, err := ask(http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	form := url.Values{"answer": {answer}, "limit": {"5"}, "days": {"30"}}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Add(m[1], strings.NewReplacer("&amp;", "&", "&#43;", "+").Replace(m[2]))
	}
	action := formTarget.FindStringSubmatch(page)
	if action == nil {
		return errors.New("the page has no question: " + page)
	}
	_, err = ask(http.MethodPost, base+action[1], form)
	return err
}

// stale makes the kept access token as old as it is after its hour.
func stale(ts *testscript.TestScript, _ bool, _ []string) {
	path := ts.MkAbs(".config/svc/config.json")
	text, err := os.ReadFile(path)
	ts.Check(err)
	until := regexp.MustCompile(`"access_until": "[^"]*"`)
	if !until.Match(text) {
		ts.Fatalf("no sign-in is kept")
	}
	ts.Check(os.WriteFile(path, until.ReplaceAll(text, []byte(`"access_until": "2020-01-01T00:00:00Z"`)), 0o600))
}

// revokeAll is revokeall: it ends the tokens of the workspace, as a person does in the
// console.
func (s *scriptService) revokeAll(ts *testscript.TestScript) {
	ctx := context.Background()
	ts.Check(s.app.DB.Write(ctx, func(tx *db.Tx) error {
		keys, err := identity.AgentKeys(ctx, tx, s.workspace)
		for _, k := range keys {
			if err == nil && k.RevokedAt == nil && strings.HasPrefix(k.Name, "svc command line") {
				err = identity.Revoke(ctx, tx, k.KeyID)
			}
		}
		return err
	}))
}

// device ANSWER runs svc login --device, and a person answers elsewhere with the code that
// it shows. It keeps what svc says in the file device-said, and its exit code in the
// variable CODE.
func (s *scriptService) device(ts *testscript.TestScript, answer string) {
	var svc string
	for _, folder := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(folder, "svc")); err == nil && svc == "" {
			svc = filepath.Join(folder, "svc")
		}
	}
	command := exec.Command(svc, "login", "--device")
	command.Dir = ts.MkAbs(".")
	command.Env = slices.Concat(os.Environ(), []string{"HOME=" + ts.Getenv("HOME"), "SVC_SERVER=" + s.url, "SVC_KEY=", "XDG_CONFIG_HOME="})
	said, err := command.StderrPipe()
	ts.Check(err)
	ts.Check(command.Start())
	all, answered := "", false
	for lines := bufio.NewScanner(said); lines.Scan(); {
		all += lines.Text() + "\n"
		if m := regexp.MustCompile(`Open (\S+) in any browser and type the code (\S+)`).FindStringSubmatch(lines.Text()); m != nil && !answered {
			answered = true
			ts.Check(answerPage(m[1]+"?"+url.Values{"user_code": {m[2]}}.Encode(), s.session, answer))
		}
	}
	err = command.Wait()
	ts.Setenv("CODE", fmt.Sprint(command.ProcessState.ExitCode()))
	ts.Check(os.WriteFile(ts.MkAbs("device-said"), []byte(all), 0o644))
	if _, is := errors.AsType[*exec.ExitError](err); !is {
		ts.Check(err)
	}
}
