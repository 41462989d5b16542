-- Schema 4: rows and notes of the ledger as sets; schema 1's keep_1 stays for nodes at work meanwhile.
--
-- keep_1 writes one row after the other, with three statements for each, and took longer than the commits
-- of the requests that it writes of: 580 of 990 microseconds. This one finds each session once, and writes
-- all rows with one statement, all reports with one, all notes with one.

-- As keep_1. The sessions are locked in the order of their names.
CREATE FUNCTION weir.keep_2(p_ticket bigint, p_touch bigint, p_notes_max bigint,
    r_tenant bytea[], r_session bytea[], r_time bigint[], r_agent bytea[], r_model bytea[], r_line bytea[],
    r_bytes bigint[], r_codec bigint[], r_report bytea[],
    n_tenant bytea[], n_session bytea[], n_key bytea[], n_time bigint[], n_data bytea[])
    RETURNS TABLE(at bigint, request_id bigint, session_id bigint)
    LANGUAGE plpgsql SET lock_timeout = '1500ms' SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE g record; i bigint; t bigint; s bigint; u bigint; last_tenant bytea;
    rows_count bigint := cardinality(r_tenant); notes_count bigint := cardinality(n_tenant);
    tenants bigint[]; sessions bigint[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(2003134834, 1);
    PERFORM pg_advisory_xact_lock(2003134834, 2);
    sessions := array_fill(0::bigint, ARRAY[(rows_count + notes_count)::int]);
    tenants := sessions;
    FOR g IN SELECT x.t, x.s, max(x.time_ms) AS used, array_agg(x.place) AS places
        FROM unnest(r_tenant || n_tenant, r_session || n_session, r_time || n_time)
            WITH ORDINALITY AS x(t, s, time_ms, place) GROUP BY x.t, x.s ORDER BY x.t, x.s
    LOOP
        IF last_tenant IS DISTINCT FROM g.t THEN
            t := weir.need_tenant_1(g.t);
            last_tenant := g.t;
        END IF;
        SELECT x.id, x.used_ms INTO s, u FROM weir.session x WHERE x.tenant_id = t AND x.name = g.s
            FOR KEY SHARE;
        IF s IS NULL OR (g.used > u AND g.used::numeric - u >= p_touch) THEN
            s := weir.need_session_1(t, g.s, g.used, p_touch);
        END IF;
        FOREACH i IN ARRAY g.places LOOP
            tenants[i] := t;
            sessions[i] := s;
        END LOOP;
    END LOOP;

    RETURN QUERY WITH made AS (
        INSERT INTO weir.request AS r(ticket, session_id, time_ms, agent, model, line)
            SELECT p_ticket + x.place, x.s, x.time_ms, x.agent, x.model, x.line
            FROM unnest(sessions[1:rows_count], r_time, r_agent, r_model, r_line)
                WITH ORDINALITY AS x(s, time_ms, agent, model, line, place)
            ON CONFLICT DO NOTHING RETURNING r.ticket, r.id, r.session_id)
        SELECT made.ticket - p_ticket, made.id, made.session_id FROM made;
    INSERT INTO weir.report AS r SELECT DISTINCT ON (x.s) x.s, x.time_ms, x.model, x.bytes, x.codec, x.report
        FROM unnest(sessions[1:rows_count], r_time, r_model, r_bytes, r_codec, r_report)
            WITH ORDINALITY AS x(s, time_ms, model, bytes, codec, report, place)
        WHERE x.bytes > 0 ORDER BY x.s, x.place DESC
        ON CONFLICT ON CONSTRAINT report_pkey DO UPDATE SET time_ms = excluded.time_ms,
        model = excluded.model, text_bytes = excluded.text_bytes, codec = excluded.codec, data = excluded.data;
    IF notes_count > 0 THEN
        INSERT INTO weir.note(tenant_id, key, session_id, time_ms, data)
            SELECT y.t, y.key, y.s, y.time_ms, y.data FROM (SELECT DISTINCT ON (x.t, x.key) x.*
                FROM unnest(tenants[rows_count + 1:], sessions[rows_count + 1:], n_key, n_time, n_data)
                    WITH ORDINALITY AS x(t, s, key, time_ms, data, place)
                ORDER BY x.t, x.key, x.place DESC) y ORDER BY y.place
            ON CONFLICT ON CONSTRAINT note_tenant_id_key_key DO UPDATE SET id = nextval('weir.note_id'),
            session_id = excluded.session_id, time_ms = excluded.time_ms, data = excluded.data;
        DELETE FROM weir.note x USING (SELECT DISTINCT z.s FROM unnest(sessions[rows_count + 1:]) AS z(s)) d
            WHERE x.session_id = d.s AND x.id <= (SELECT y.id FROM weir.note y
            WHERE y.session_id = d.s ORDER BY y.id DESC LIMIT 1 OFFSET p_notes_max);
    END IF;
END $$;
