package clients_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/story"
)

// TestLangChainFinishesAJobByTheTextsOfToolsAlone: a program with LangChain's adapters shows
// its model the text of each answer, which is enough for a whole job. The adapters hold a start
// without consent to the tool's schema, and do not send it.
func TestLangChainFinishesAJobByTheTextsOfToolsAlone(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite") // the texts are the same on both databases
	c := svc.Caller(story.Credit)
	folder := scriptFolder(t)
	var said struct {
		Tools      int    `json:"tools"`
		Sent       int    `json:"sent"`
		TooDear    string `json:"too_dear"`
		Unasked    string `json:"unasked"`
		Job        string `json:"job"`
		Receipt    string `json:"receipt"`
		Ends       bool   `json:"ends"`
		Downloaded string `json:"downloaded"`
	}
	text := node(t, folder, []string{"SVC_URL=" + svc.URL, "SVC_KEY=" + c.Agent.Secret, "SVC_SCENE=" + filepath.Join(folder, demo.Filename)}, "langchain.mjs")
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if said.Tools != 10 || said.Sent != http.StatusOK || !said.Ends || len(said.Downloaded) != 64 {
		t.Errorf("the program says %+v", said)
	}
	for what, has := range map[string][2]string{
		"a price above the maximum": {said.TooDear, "price_above_max"},
		"a start without consent":   {said.Unasked, "did not match expected schema"},
		"the job":                   {said.Job, "2 of 2 frames done"},
		"the receipt's price":       {said.Receipt, "for 0.02 USD"},
		"the receipt's ZIP":         {said.Receipt, said.Downloaded},
	} {
		if !strings.Contains(has[0], has[1]) {
			t.Errorf("%s: %q lacks %q", what, has[0], has[1])
		}
	}
	svc.SettledOnce(c, 2)
}
