-- Payments into wallets, and the provider's events that told of them.

-- +goose Up

CREATE TABLE top_up (
  top_up_id      text PRIMARY KEY,
  workspace_id   text NOT NULL REFERENCES workspace (workspace_id),
  amount_cents   bigint NOT NULL CHECK (amount_cents > 0),
  status         text NOT NULL, -- see package payment
  session_id     text NOT NULL, -- the provider's page; '' until it is known
  payment_id     text NOT NULL, -- the provider's payment; '' until there is one
  customer_id    text NOT NULL, -- the provider's name of the workspace; '' for none
  checkout_url   text NOT NULL, -- where the person pays; '' when that is over
  receipt_url    text NOT NULL, -- the provider's invoice or receipt; '' for none
  refunded_cents bigint NOT NULL, -- booked as refunded
  disputed_cents bigint NOT NULL, -- booked as taken back by a bank, and not given back
  created_at     bigint NOT NULL,
  paid_at        bigint NOT NULL, -- when it was credited; 0: it was not
  checked_at     bigint NOT NULL, -- when the sweep last asked the provider
  row_sum        text NOT NULL    -- of the row's content but checked_at; see package rowsum
);
CREATE INDEX top_up_by_workspace ON top_up (workspace_id, top_up_id);
CREATE INDEX top_up_by_payment ON top_up (payment_id) WHERE payment_id <> '';
CREATE INDEX top_up_due ON top_up (checked_at) WHERE status IN ('created', 'open');

-- An event that was worked on. Rows go after 90 days.
CREATE TABLE payment_event (
  event_id    text PRIMARY KEY,
  type        text NOT NULL,
  top_up_id   text NOT NULL REFERENCES top_up (top_up_id),
  received_at bigint NOT NULL,
  row_sum     text NOT NULL
);
CREATE INDEX payment_event_by_age ON payment_event (received_at);

-- +goose Down
DROP TABLE payment_event;
DROP TABLE top_up;
