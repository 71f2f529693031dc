-- Invoices: one for each payment, with numbers that have no gaps.

-- +goose Up

-- Whose invoices they are: one row, from the first invoice or setting on.
CREATE TABLE invoice_issuer (
  issuer_id        bigint PRIMARY KEY, -- 1
  last_serial      bigint NOT NULL,    -- of the newest invoice; taking the next one locks the row
  name             text NOT NULL,
  address          text NOT NULL,
  tax_id           text NOT NULL,
  tax_basis_points bigint NOT NULL,    -- of the net amount; 0 = no tax
  prefix           text NOT NULL,
  note             text NOT NULL,
  row_sum          text NOT NULL
);

-- What a workspace wants on its invoices.
CREATE TABLE invoice_billing (
  workspace_id text PRIMARY KEY REFERENCES workspace (workspace_id),
  name         text NOT NULL,
  address      text NOT NULL,
  tax_id       text NOT NULL,
  row_sum      text NOT NULL
);

CREATE TABLE invoice (
  serial           bigint PRIMARY KEY, -- 1, 2, 3 and so on
  number           text NOT NULL UNIQUE,
  kind             text NOT NULL,
  workspace_id     text NOT NULL REFERENCES workspace (workspace_id),
  top_up_id        text NOT NULL REFERENCES top_up (top_up_id),
  reference        text NOT NULL UNIQUE, -- of the ledger's entry
  corrects         text NOT NULL,        -- the number of the invoice that a credit note corrects; '' = none
  credit_cents     bigint NOT NULL,      -- what the wallet got, or gave back
  net_cents        bigint NOT NULL,
  tax_cents        bigint NOT NULL,
  total_cents      bigint NOT NULL,
  tax_basis_points bigint NOT NULL,      -- 0 = none, or the provider's
  seller_name      text NOT NULL,
  seller_address   text NOT NULL,
  seller_tax_id    text NOT NULL,
  buyer_name       text NOT NULL,
  buyer_address    text NOT NULL,
  buyer_tax_id     text NOT NULL,
  note             text NOT NULL,
  issued_at        bigint NOT NULL,
  row_sum          text NOT NULL
);
CREATE INDEX invoice_of_workspace ON invoice (workspace_id, serial);
CREATE INDEX invoice_of_top_up ON invoice (top_up_id);

-- +goose Down
DROP TABLE invoice;
DROP TABLE invoice_billing;
DROP TABLE invoice_issuer;
