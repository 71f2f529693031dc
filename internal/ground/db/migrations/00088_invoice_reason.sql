-- Why a credit note was written: chargeback; '' = a refund, or no credit note.

-- +goose Up
ALTER TABLE invoice ADD COLUMN reason text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE invoice DROP COLUMN reason;
