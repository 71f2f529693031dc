-- The log of receipts, the public halves of the keys that sign, and whether a
-- workspace shows proof pages.

-- +goose Up

-- The one row is locked by every append, so that indices are dense for any
-- number of writers. Hashes are lower-case hex.
CREATE TABLE receipt_log (
  log_id bigint PRIMARY KEY CHECK (log_id = 1),
  origin text NOT NULL, -- the log's name; '' until a service has started
  size   bigint NOT NULL CHECK (size >= 0),
  peaks  text NOT NULL -- roots of the complete subtrees, largest first, without separators
);
INSERT INTO receipt_log (log_id, origin, size, peaks) VALUES (1, '', 0, '');

CREATE TABLE receipt_log_leaf (
  log_index bigint PRIMARY KEY CHECK (log_index >= 0),
  entry     text NOT NULL -- SHA-256 of the receipt's signed content
);

-- Hashes of complete subtrees of 256, 65536, … leaves: what tiles of level 1, 2, … hold.
CREATE TABLE receipt_log_node (
  tile_level bigint NOT NULL CHECK (tile_level >= 1),
  number     bigint NOT NULL,
  hash       text NOT NULL,
  PRIMARY KEY (tile_level, number)
);

CREATE TABLE signing_key (
  key_id     text PRIMARY KEY,
  public_pem text NOT NULL,
  valid_from bigint NOT NULL,
  valid_to   bigint NOT NULL DEFAULT 0 -- no receipt is signed with it from then on; 0 = no end
);

ALTER TABLE workspace ADD COLUMN proof_page bigint NOT NULL DEFAULT 1 CHECK (proof_page IN (0, 1));

-- +goose Down
ALTER TABLE workspace DROP COLUMN proof_page;
DROP TABLE signing_key;
DROP TABLE receipt_log_node;
DROP TABLE receipt_log_leaf;
DROP TABLE receipt_log;
