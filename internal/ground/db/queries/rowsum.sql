-- name: Unsummed :many
SELECT relation FROM unsummed ORDER BY relation;

-- name: UnsummedDone :exec
DELETE FROM unsummed WHERE relation = @relation;

-- name: AuditNameless :many
-- Tables in which a row has lost its key: an audit that walks a table by its key begins
-- after ''.
SELECT CAST('workspace' AS text) AS relation FROM workspace WHERE workspace_id = ''
UNION ALL SELECT 'person' FROM person WHERE person_id = ''
UNION ALL SELECT 'member' FROM member WHERE workspace_id = ''
UNION ALL SELECT 'member_limit' FROM member_limit WHERE workspace_id = ''
UNION ALL SELECT 'member_domain' FROM member_domain WHERE domain = ''
UNION ALL SELECT 'saved_filter' FROM saved_filter WHERE filter_id = ''
UNION ALL SELECT 'member_left' FROM member_left WHERE workspace_id = ''
UNION ALL SELECT 'invitation' FROM invitation WHERE invitation_id = ''
UNION ALL SELECT 'operator' FROM operator WHERE person_id = ''
UNION ALL SELECT 'operator_act' FROM operator_act WHERE act_id = ''
UNION ALL SELECT 'workspace_freeze' FROM workspace_freeze WHERE workspace_id = ''
UNION ALL SELECT 'audit_run' FROM audit_run WHERE run_id = ''
UNION ALL SELECT 'account_key' FROM account_key WHERE key_id = ''
UNION ALL SELECT 'agent_key' FROM agent_key WHERE key_id = ''
UNION ALL SELECT 'node_key' FROM node_key WHERE key_id = ''
UNION ALL SELECT 'operator_key' FROM operator_key WHERE key_id = ''
UNION ALL SELECT 'session' FROM session WHERE token_sha256 = ''
UNION ALL SELECT 'sign_in_link' FROM sign_in_link WHERE token_sha256 = ''
UNION ALL SELECT 'webhook_endpoint' FROM webhook_endpoint WHERE endpoint_id = ''
UNION ALL SELECT 'webhook_secret' FROM webhook_secret WHERE secret_id = ''
UNION ALL SELECT 'webhook_delivery' FROM webhook_delivery WHERE delivery_id = ''
UNION ALL SELECT 'benchmark_receipt' FROM benchmark_receipt WHERE result_id = ''
UNION ALL SELECT 'signing_key' FROM signing_key WHERE key_id = ''
UNION ALL SELECT 'worker' FROM worker WHERE worker_id = ''
UNION ALL SELECT 'lease' FROM lease WHERE lease_id = ''
UNION ALL SELECT 'dead_letter' FROM dead_letter WHERE lease_id = ''
UNION ALL SELECT 'upload' FROM upload WHERE upload_id = ''
UNION ALL SELECT 'awaited_upload' FROM awaited_upload WHERE upload_id = ''
UNION ALL SELECT 'quote' FROM quote WHERE quote_id = ''
UNION ALL SELECT 'job' FROM job WHERE job_id = ''
UNION ALL SELECT 'ledger_transaction' FROM ledger_transaction WHERE transaction_id = ''
UNION ALL SELECT 'key_standing' FROM key_standing WHERE key_id = ''
UNION ALL SELECT 'webhook_event' FROM webhook_event WHERE event_id = ''
UNION ALL SELECT 'top_up' FROM top_up WHERE top_up_id = ''
UNION ALL SELECT 'payment_event' FROM payment_event WHERE event_id = ''
UNION ALL SELECT 'wallet_alert' FROM wallet_alert WHERE workspace_id = ''
UNION ALL SELECT 'invoice_billing' FROM invoice_billing WHERE workspace_id = ''
UNION ALL SELECT 'notice_reader' FROM notice_reader WHERE person_id = ''
UNION ALL SELECT 'oauth_request' FROM oauth_request WHERE secret_sha256 = ''
UNION ALL SELECT 'oauth_grant' FROM oauth_grant WHERE key_id = ''
UNION ALL SELECT 'test_world' FROM test_world WHERE workspace_id = ''
UNION ALL SELECT 'benchmark_challenge' FROM benchmark_challenge WHERE challenge_id = ''
UNION ALL SELECT 'share_comment' FROM share_comment WHERE comment_id = ''
UNION ALL SELECT 'preview' FROM preview WHERE preview_id = ''
UNION ALL SELECT 'erased_receipt' FROM erased_receipt WHERE receipt_id = '';
