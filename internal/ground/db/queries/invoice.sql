-- name: InvoiceIssuerGet :one
SELECT * FROM invoice_issuer WHERE issuer_id = 1;

-- name: InvoiceIssuerSet :exec
INSERT INTO invoice_issuer (issuer_id, last_serial, name, address, tax_id, tax_basis_points, prefix, note, row_sum)
VALUES (@issuer_id, 0, @name, @address, @tax_id, @tax_basis_points, @prefix, @note, @row_sum)
ON CONFLICT (issuer_id) DO UPDATE SET name = excluded.name, address = excluded.address, tax_id = excluded.tax_id,
  tax_basis_points = excluded.tax_basis_points, prefix = excluded.prefix, note = excluded.note, row_sum = excluded.row_sum;

-- name: InvoiceSerialTake :one
-- Takes the next serial. The row stays locked until the end of the transaction, which gives
-- the serial back when it fails: so there are no gaps.
INSERT INTO invoice_issuer (issuer_id, last_serial, name, address, tax_id, tax_basis_points, prefix, note, row_sum)
VALUES (@issuer_id, 1, @name, @address, @tax_id, @tax_basis_points, @prefix, @note, @row_sum)
ON CONFLICT (issuer_id) DO UPDATE SET last_serial = invoice_issuer.last_serial + 1
RETURNING *;

-- name: InvoiceBillingGet :one
SELECT * FROM invoice_billing WHERE workspace_id = @workspace_id;

-- name: InvoiceBillingSet :exec
INSERT INTO invoice_billing (workspace_id, name, address, tax_id, row_sum) VALUES (@workspace_id, @name, @address, @tax_id, @row_sum)
ON CONFLICT (workspace_id) DO UPDATE SET name = excluded.name, address = excluded.address, tax_id = excluded.tax_id, row_sum = excluded.row_sum;

-- name: InvoiceBillingDelete :exec
DELETE FROM invoice_billing WHERE workspace_id = @workspace_id;

-- name: InvoiceAdd :exec
INSERT INTO invoice (serial, number, kind, workspace_id, top_up_id, reference, corrects, credit_cents, net_cents, tax_cents, total_cents, tax_basis_points,
  seller_name, seller_address, seller_tax_id, buyer_name, buyer_address, buyer_tax_id, note, issued_at, row_sum, reason)
VALUES (@serial, @number, @kind, @workspace_id, @top_up_id, @reference, @corrects, @credit_cents, @net_cents, @tax_cents, @total_cents, @tax_basis_points,
  @seller_name, @seller_address, @seller_tax_id, @buyer_name, @buyer_address, @buyer_tax_id, @note, @issued_at, @row_sum, @reason);

-- name: InvoiceGet :one
SELECT * FROM invoice WHERE number = @number;

-- name: InvoiceOfEntry :one
-- The invoice of an entry of the ledger: that of a payment has the id of its top-up.
SELECT * FROM invoice WHERE reference = @reference;

-- name: InvoiceNumbers :many
-- The invoices of a workspace's payments, from a top-up on.
SELECT top_up_id, number FROM invoice WHERE workspace_id = @workspace_id AND top_up_id >= @oldest AND corrects = '';

-- name: InvoiceCorrected :one
-- What credit notes have taken off an invoice, without those that were reversed.
SELECT CAST(coalesce(sum(CASE WHEN reason = 'chargeback_won' THEN -total_cents ELSE total_cents END), 0) AS bigint) AS total_cents,
  CAST(coalesce(sum(CASE WHEN reason = 'chargeback_won' THEN -tax_cents ELSE tax_cents END), 0) AS bigint) AS tax_cents,
  CAST(coalesce(sum(CASE reason WHEN 'chargeback' THEN total_cents WHEN 'chargeback_won' THEN -total_cents ELSE 0 END), 0) AS bigint) AS charged_back_cents
FROM invoice WHERE top_up_id = @top_up_id AND corrects <> '';

-- name: InvoicesOfWorkspace :many
SELECT * FROM invoice WHERE workspace_id = @workspace_id AND serial < @before ORDER BY serial DESC LIMIT CAST(@max AS bigint);

-- name: InvoicesOfPayment :many
SELECT * FROM invoice WHERE top_up_id = @top_up_id ORDER BY serial DESC;

-- name: InvoicesNewer :one
-- The invoice after which the page of newer ones begins that ends where a page begins; no row
-- where that page is the first.
SELECT number FROM invoice WHERE workspace_id = @workspace_id AND serial >= @before
ORDER BY serial LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: InvoicesOfAllNewer :one
-- InvoicesNewer over all workspaces.
SELECT number FROM invoice WHERE serial >= @before ORDER BY serial LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: InvoicesOfAll :many
SELECT * FROM invoice WHERE serial < @before ORDER BY serial DESC LIMIT CAST(@max AS bigint);

-- name: AuditInvoiceEntries :many
-- Invoices that say something else than the entry of the ledger that they are about. The credit
-- note of a chargeback is written once the bank has decided, which is later. What reverses one
-- has its reference with " won" after it, since the entry has the reference of the chargeback's.
SELECT i.number, i.credit_cents, CAST(coalesce(l.amount_cents, 0) AS bigint) AS booked_cents FROM invoice i
LEFT JOIN ledger_transaction l ON l.workspace_id = i.workspace_id
  AND l.reference = CASE WHEN i.reason = 'chargeback_won' THEN substr(i.reference, 1, length(i.reference) - 4) ELSE i.reference END
  AND l.kind = CASE WHEN i.reason <> '' THEN i.reason WHEN i.corrects <> '' THEN 'top_up_refund' ELSE 'top_up' END
WHERE l.transaction_id IS NULL OR l.amount_cents <> i.credit_cents OR l.created_at > i.issued_at
  OR (l.created_at < i.issued_at AND i.reason = '');

-- name: AuditInvoiceless :many
-- Payments without an invoice, refunds of payments with one that have no credit note, and
-- chargebacks that were given back and whose credit note was not reversed.
-- What was paid before the first invoice has none.
SELECT l.kind, l.reference, l.amount_cents FROM ledger_transaction l
WHERE (l.kind IN ('top_up', 'top_up_refund') AND NOT EXISTS (SELECT 1 FROM invoice i WHERE i.reference = l.reference)
  AND (l.kind = 'top_up' AND l.created_at >= (SELECT f.issued_at FROM invoice f WHERE f.serial = 1)
    OR l.kind = 'top_up_refund' AND EXISTS (SELECT 1 FROM invoice p WHERE p.reference = substr(l.reference, 1, 36))))
  OR (l.kind = 'chargeback_won' AND EXISTS (SELECT 1 FROM invoice n WHERE n.reference = l.reference)
    AND NOT EXISTS (SELECT 1 FROM invoice w WHERE w.reference = l.reference || ' won'));

-- name: AuditOvercorrected :many
-- Invoices of which credit notes that were not reversed take off more than they say, and credit
-- notes that were reversed by another amount than theirs.
SELECT i.number, i.total_cents, i.tax_cents, CAST(sum(c.total_cents - coalesce(w.total_cents, 0)) AS bigint) AS corrected_cents,
  CAST(sum(c.tax_cents - coalesce(w.tax_cents, 0)) AS bigint) AS corrected_tax_cents
FROM invoice i JOIN invoice c ON c.corrects = i.number LEFT JOIN invoice w ON w.corrects = c.number
GROUP BY i.number, i.total_cents, i.tax_cents, i.top_up_id, i.kind
HAVING sum(c.total_cents - coalesce(w.total_cents, 0)) > i.total_cents OR sum(c.tax_cents - coalesce(w.tax_cents, 0)) > i.tax_cents
  OR min(c.top_up_id) <> i.top_up_id OR max(c.top_up_id) <> i.top_up_id
  OR i.kind = 'credit_note' AND (sum(c.total_cents) <> i.total_cents OR sum(c.tax_cents) <> i.tax_cents);
