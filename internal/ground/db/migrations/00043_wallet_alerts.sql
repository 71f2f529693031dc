-- When the people of a workspace want to hear that its wallet runs low.

-- +goose Up

CREATE TABLE wallet_alert (
  workspace_id text PRIMARY KEY REFERENCES workspace (workspace_id),
  below_cents  bigint NOT NULL CHECK (below_cents > 0), -- less than this is low
  told_at      bigint NOT NULL, -- when the workspace was last warned; 0: never
  row_sum      text NOT NULL
);

-- +goose Down
DROP TABLE wallet_alert;
