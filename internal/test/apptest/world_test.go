package apptest_test

import (
	"os"
	"testing"

	"svc.example/client"
	"svc.example/internal/test/apptest"
)

var worlds = apptest.Share(nil)

func TestMain(m *testing.M) { os.Exit(apptest.Run(m, worlds)) }

func TestAWorldIsStartedOnceAndAWorkspaceIsTheTestsOwn(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		if again := worlds.On(t, w.Engine); again != w {
			t.Error("a second service was started")
		}
		one, two := w.Workspace(t, 5), w.Workspace(t, 0)
		if one.ID == two.ID || one.Email == two.Email {
			t.Errorf("two tests share %s of %s", one.ID, one.Email)
		}
		c, err := client.New(w.URL, one.Agent.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.SigningKeys(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
