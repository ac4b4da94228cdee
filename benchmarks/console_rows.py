"""A house with a long past, written by the database itself: orders and all that became of them."""

from django.db import connection

# One statement a table; `{n}` orders over ninety days, one regeneration in twenty.
_ROWS = (
    """INSERT INTO verdicts_order (id, token, session_id, status, tier, query, email, price_cents,
        currency, payment_intent, paid_at, refunded_cents, attempts, retired_model, regens,
        reason, hits, created_at)
    SELECT i, gen_random_uuid(), 'cs_test_bench' || lpad(i::text, 12, '0'),
        CASE WHEN i % 50 = 0 THEN 'rejected' WHEN i % 997 = 0 THEN 'failed' ELSE 'delivered' END,
        (ARRAY['quick', 'full', 'strategy'])[1 + i % 3], 'An idea, number ' || i,
        'buyer' || i || '@example.com', 500, 'cad', 'pi_' || i,
        now() - (90.0 * ({n} - i) / {n}) * interval '1 day', 0, 1, '', 0, '', 2,
        now() - (90.0 * ({n} - i) / {n}) * interval '1 day'
    FROM generate_series(1, {n}) AS i""",
    """INSERT INTO audit_modelcall (id, session_id, kind, tier, model, prompt_sha256, asked, sent,
        outcome, error, finish_reason, block_reason, model_version, response_id, prompt_tokens,
        output_tokens, duration_ms, created_at)
    SELECT id, session_id, 'original', tier, 'gemini-2.5-flash', repeat('a', 64), '{{}}', '{{}}',
        'answered', '', 'STOP', '', '', '', 500, 400, 1500, paid_at FROM verdicts_order""",
    """INSERT INTO audit_crosschecklog (id, session_id, kind, tier, call_id, approved,
        coherence_score, threshold, verdict_label, flags, flagged, crosscheck_reason, v_t, v_r,
        e_d, contributions, error, evidence, created_at)
    SELECT id, session_id, 'original', tier, id, status = 'delivered', 1.0, 0.974, 'GREEN',
        CASE WHEN id % 40 = 1 THEN '["short_summary"]'::jsonb ELSE '[]'::jsonb END,
        status = 'delivered' AND id % 40 = 1,
        CASE WHEN status = 'delivered' THEN 'pass' ELSE 'field_missing' END,
        7, 0, 0, '[]', '', '', paid_at FROM verdicts_order""",
    """INSERT INTO audit_crosschecklog (id, session_id, kind, tier, approved, coherence_score,
        threshold, verdict_label, flags, flagged, crosscheck_reason, v_t, v_r, e_d,
        contributions, error, evidence, created_at)
    SELECT {n} + id, session_id, 'regen', tier, true, 1.0, 0.974, 'GREEN', '[]', false, 'pass',
        7, 0, 0, '[]', '', '', paid_at FROM verdicts_order WHERE id % 20 = 3""",
    """INSERT INTO audit_divergenceevent (crosscheck_id, session_id, tier, original_verdict,
        original_source, regen_verdict, level, skipped, dimensions, causes, same_inputs,
        latency_ms, created_at)
    SELECT {n} + id, session_id, tier, 'GREEN', 'verdict', 'GREEN',
        CASE WHEN id % 700 = 3 THEN 'minor' ELSE 'none' END, false, '[]', '["infrastructure"]',
        true, 30, paid_at FROM verdicts_order WHERE id % 20 = 3""",
    """INSERT INTO verdicts_verdict (id, order_id, kind, label, payload, fingerprint, call_id,
        crosscheck_id, created_at)
    SELECT id, id, 'original', 'GREEN', '{{"verdict": "GREEN", "summary": "Small and sound."}}',
        substr(md5(id::text), 1, 12), id, id, paid_at
    FROM verdicts_order WHERE status = 'delivered'""",
    """INSERT INTO verdicts_delivery (id, order_id, kind, state, message_id, about, emailed_label,
        body_sha256, attempts, sent_at, error, created_at)
    SELECT id, id, 'verdict', 'sent', '<' || id || '@oracle.example>', '', 'GREEN', '', 1,
        paid_at, '', paid_at FROM verdicts_order""",
    """INSERT INTO verdicts_stripeevent (event_id, type, object, received_at, processed_at, outcome)
    SELECT 'evt_' || id, 'checkout.session.completed', '{{}}', paid_at, paid_at, 'paid'
    FROM verdicts_order""",
    """INSERT INTO audit_logentry (public_id, entry, salt, commitment, host, created_at, failures,
        written_at, sequence, prev, hash)
    SELECT md5(id::text), '{{}}', '', '', 'bench', paid_at, 0, paid_at, id, repeat('a', 64),
        repeat('b', 64) FROM verdicts_order""",
    """INSERT INTO verdicts_case (kind, order_id, crosscheck_id, opened_at, outcome, note,
        closed_by_id, closed_at)
    SELECT CASE WHEN status = 'failed' THEN 'failed' ELSE 'rejected' END, id, id, paid_at,
        CASE WHEN id % 5000 = 0 THEN '' ELSE 'correct' END, '',
        CASE WHEN id % 5000 = 0 THEN NULL ELSE (SELECT min(id) FROM auth_user) END,
        CASE WHEN id % 5000 = 0 THEN NULL ELSE paid_at END
    FROM verdicts_order WHERE status <> 'delivered'""",
    """INSERT INTO audit_action (session_id, action, who, reason, created_at)
    SELECT session_id, 'case correct', 'ada', 'seen', paid_at
    FROM verdicts_order WHERE status <> 'delivered'""",
)


def fill(orders: int) -> None:
    with connection.cursor() as cursor:
        for statement in _ROWS:
            cursor.execute(statement.format(n=orders))
        cursor.execute("ANALYZE")
