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

// TestEveryClientFinishesAJobByTheTextsOfToolsAlone: many programs show their model nothing but
// the text of an answer, which is enough for a whole job. A start without a person's consent is
// refused; LangChain's adapters do not even send it.
func TestEveryClientFinishesAJobByTheTextsOfToolsAlone(t *testing.T) {
	t.Parallel()
	const refused, unsent = "The person has not accepted the price and the terms", "did not match expected schema"
	for client, unasked := range map[string]string{"sdk": refused, "ai": refused, "mcp-remote": refused, "inspector": refused, "langchain": unsent} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			svc := story.SharedOn(t, "sqlite") // the texts are the same on both databases
			c := svc.Caller(story.Credit)
			folder := scriptFolder(t)
			var said struct {
				Sent       int    `json:"sent"`
				TooDear    string `json:"too_dear"`
				Unasked    string `json:"unasked"`
				Job        string `json:"job"`
				Receipt    string `json:"receipt"`
				Ends       bool   `json:"ends"`
				Downloaded string `json:"downloaded"`
			}
			text := node(t, folder, []string{
				"SVC_CLIENT=" + client, "SVC_URL=" + svc.URL, "SVC_KEY=" + c.Agent.Secret, "SVC_SCENE=" + filepath.Join(folder, demo.Filename),
				"HOME=" + folder, "MCP_INSPECTOR_SECRET_STORE=file",
			}, "texts.mjs")
			if err := json.Unmarshal(text, &said); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if said.Sent != http.StatusOK || !said.Ends || len(said.Downloaded) != 64 {
				t.Errorf("the program says %+v", said)
			}
			for what, has := range map[string][2]string{
				"a price above the maximum": {said.TooDear, "price_above_max"},
				"a start without consent":   {said.Unasked, unasked},
				"the job":                   {said.Job, "2 of 2 frames done"},
				"the receipt's price":       {said.Receipt, "for $0.02"},
				"the receipt's ZIP":         {said.Receipt, said.Downloaded},
			} {
				if !strings.Contains(has[0], has[1]) {
					t.Errorf("%s: %q lacks %q", what, has[0], has[1])
				}
			}
			svc.SettledOnce(c, 2)
		})
	}
}
