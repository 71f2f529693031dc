package quote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/settings"
)

// Choice is what an order renders of a file in place of what the file says.
type Choice struct {
	Settings settings.Settings
	// Scene is the scene with these settings; nil where that is the upload's own.
	Scene *Scene
}

// Of is the scene that is rendered; own is the upload's.
func (c Choice) Of(own Scene) Scene {
	if c.Scene != nil {
		return *c.Scene
	}
	return own
}

// text is the scene as quotes keep it.
func (c Choice) text() (string, error) {
	if c.Scene == nil {
		return "", nil
	}
	text, err := json.Marshal(c.Scene)
	if err != nil {
		return "", fmt.Errorf("write a chosen scene: %w", err)
	}
	return string(text), nil
}

// ReadScene reads a scene as quotes keep it; nil of "".
func ReadScene(text string) (*Scene, error) {
	if text == "" {
		return nil, nil
	}
	s := &Scene{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("read a chosen scene: %w", err)
	}
	return s, nil
}

// SceneWith is the scene of an upload of a workspace with settings, as an earlier quote has it;
// nil where none has.
func SceneWith(ctx context.Context, tx *db.Tx, workspaceID, uploadID string, s settings.Settings) (*Scene, error) {
	text, err := tx.QuoteScene(ctx, query.QuoteSceneParams{UploadID: uploadID, WorkspaceID: workspaceID, Settings: s.Text()})
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a chosen scene: %w", err)
	}
	return ReadScene(text)
}

// ChoiceOf is what a quote's order chose, for the same again.
func ChoiceOf(ctx context.Context, tx *db.Tx, quoteID string) (Choice, error) {
	row, err := tx.QuoteGet(ctx, quoteID)
	if err != nil {
		return Choice{}, fmt.Errorf("read quote: %w", err)
	}
	q := Quote{QuoteID: quoteID, scene: row.Scene}
	if q.Settings, err = settings.Read(row.Settings); err != nil {
		return Choice{}, err
	}
	return q.choice()
}

// Refused is why a file cannot be rendered as it is, though it can be as it was chosen.
type Refused struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

func (r Refused) fault() error { return fault.New(r.Code, "%s", r.Message) }

// settingDetail is the detail of invalid_settings.
type settingDetail struct {
	Setting string   `json:"setting"`
	Value   string   `json:"value,omitempty"`
	Offers  []string `json:"offers,omitempty"`
}

// mostOffers bounds what an error lists; the inspection has all.
const mostOffers = 50

// BadSettings translates an error of package settings; any other error it passes on. Error:
// invalid_settings.
func BadSettings(err error) error {
	bad, ok := errors.AsType[*settings.Error](err)
	if !ok {
		return err
	}
	text := bad.Error() + "."
	if bad.Value != "" {
		text = fmt.Sprintf("%s %q %s.", bad.Setting, bad.Value, bad.Reason)
	}
	if len(bad.Offers) > 0 {
		text += " It has: " + listed(bad.Offers, itself) + "."
	}
	return fault.New(fault.InvalidSettings, "%s", text).With(settingDetail{bad.Setting, bad.Value, first(bad.Offers, mostOffers)})
}

// ReadSettings checks settings as a caller sent them, and gives them their one form. Error:
// invalid_settings.
func ReadSettings(s settings.Settings) (settings.Settings, error) {
	if err := s.Check(); err != nil {
		return s, BadSettings(err)
	}
	return s.Normal(), nil
}
