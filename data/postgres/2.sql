-- Schema 2: the functions of the hot path anew; schema 1's stay for nodes at work meanwhile.
--
-- What made them slow is how PostgreSQL plans. A connection keeps the plans of a function, made when the
-- tables were empty for all it knew, and joined by reading all of weir.mark: a commit took 7 ms after ten
-- thousand of them. Or it made a plan for each call anew, which takes longer than to run it. So they are
-- told: one plan, by the index. Settings stand at the functions, because behind a pooler nothing else of
-- a connection may be relied on.

-- The oldest release of the schema whose nodes may still come (docs/store-format.md).
ALTER TABLE weir.schema_version ADD serves int NOT NULL DEFAULT 1;

-- As commit_1, and what is otherwise: p_full is not 0 where the commit is to survive the loss of power
-- too, whatever the server's synchronous_commit; marks that replace (r_) are apart from those that may
-- not (m_); rows come in the order of their keys. o_name is another session that was read (none: empty),
-- as it was; where it is otherwise now nothing is written, and a row with `what` 5 says so.
CREATE FUNCTION weir.commit_2(p_tenant bytea, p_session bytea, p_used bigint, p_touch bigint, p_full bigint,
    p_id bigint, p_known bigint, p_absent bytea[], o_name bytea, o_id bigint, o_version bigint,
    a_hash bytea[], a_bytes bigint[], a_stored bigint[], a_codec bigint[], a_chunks bigint[], a_data bytea[],
    a_heals bigint, m_key bytea[], m_kind bigint[], m_value bytea[],
    r_key bytea[], r_kind bigint[], r_value bytea[],
    p_model bytea[], p_turn bytea[], p_value bytea[], p_replaces bigint[])
    RETURNS TABLE(what bigint, n bigint, m bigint, a bytea, b bytea, c bytea)
    LANGUAGE plpgsql SET lock_timeout = '1500ms' SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE t bigint; s bigint; v bigint; k bigint; o bigint; is_stale boolean := false; bad bytea;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(2003134834, 1);
    IF p_full <> 0 AND current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- A session that goes on here: its row is all there is to ask.
    IF p_known > 0 THEN
        UPDATE weir.session x SET version = x.version + 1,
            used_ms = CASE WHEN p_used > x.used_ms AND p_used::numeric - x.used_ms >= p_touch THEN p_used
                ELSE x.used_ms END,
            used_day = CASE WHEN p_used > x.used_ms AND p_used::numeric - x.used_ms >= p_touch
                THEN p_used / 86400000 ELSE x.used_day END
            WHERE x.id = p_id AND x.version = p_known RETURNING x.tenant_id, x.id, x.version INTO t, s, v;
    END IF;
    IF s IS NULL THEN
        t := weir.need_tenant_1(p_tenant);
        LOOP
            SELECT x.id, x.version INTO s, v FROM weir.session x
                WHERE x.tenant_id = t AND x.name = p_session FOR NO KEY UPDATE;
            IF p_known <> -1 AND (coalesce(v, 0) <> p_known OR (p_known > 0 AND s <> p_id)) THEN
                RETURN QUERY SELECT -1::bigint, coalesce(s, 0), coalesce(v, 0), NULL::bytea, NULL::bytea,
                    NULL::bytea;
                IF s IS NOT NULL THEN
                    RETURN QUERY SELECT * FROM weir.news_1(t, s, CASE WHEN s = p_id THEN p_known ELSE -1 END);
                END IF;
                RETURN;
            END IF;
            EXIT WHEN s IS NOT NULL;
            INSERT INTO weir.session AS x(tenant_id, name, used_ms, used_day, version)
                VALUES(t, p_session, p_used, p_used / 86400000, 0) ON CONFLICT DO NOTHING;
        END LOOP;
        UPDATE weir.session x SET version = x.version + 1,
            used_ms = CASE WHEN p_used > x.used_ms AND p_used::numeric - x.used_ms >= p_touch THEN p_used
                ELSE x.used_ms END,
            used_day = CASE WHEN p_used > x.used_ms AND p_used::numeric - x.used_ms >= p_touch
                THEN p_used / 86400000 ELSE x.used_day END
            WHERE x.id = s RETURNING x.version INTO v;
    END IF;
    IF o_name <> '' THEN
        SELECT x.id, x.version INTO k, o FROM weir.session x WHERE x.tenant_id = t AND x.name = o_name;
        is_stale := coalesce(k, 0) <> o_id OR coalesce(o, 0) <> o_version;
    END IF;
    -- By equality, key for key: for "= ANY" all marks of the tenant would be read, as long as they are
    -- taken to be few.
    IF is_stale OR (cardinality(p_absent) > 0 AND EXISTS (SELECT 1 FROM unnest(p_absent) AS x(k)
        CROSS JOIN LATERAL (SELECT 1 FROM weir.mark y WHERE y.tenant_id = t AND y.key = x.k LIMIT 1) z)) THEN
        UPDATE weir.session x SET version = v - 1 WHERE x.id = s;
        RETURN QUERY SELECT -1::bigint, s, v - 1, NULL::bytea, NULL::bytea, NULL::bytea;
        RETURN QUERY SELECT 5::bigint, 0::bigint, 0::bigint, NULL::bytea, NULL::bytea, NULL::bytea
            WHERE is_stale;
        RETURN QUERY SELECT 4::bigint, z.kind, 0::bigint, z.key, z.value, NULL::bytea
            FROM unnest(p_absent) AS x(k) CROSS JOIN LATERAL (SELECT y.kind, y.key, y.value FROM weir.mark y
            WHERE y.tenant_id = t AND y.key = x.k OFFSET 0) z;
        RETURN;
    END IF;

    IF cardinality(a_hash) > 0 THEN
        INSERT INTO weir.artifact(tenant_id, handle, hash, text_bytes, stored_bytes, codec, chunks, data)
            SELECT t, substr(x.h, 1, 10), x.h, x.tb, x.sb, x.co, x.ch, x.d
            FROM unnest(a_hash, a_bytes, a_stored, a_codec, a_chunks, a_data) AS x(h, tb, sb, co, ch, d)
            ORDER BY x.h ON CONFLICT (handle, tenant_id) DO NOTHING;
        SELECT x.h INTO bad FROM unnest(a_hash) AS x(h) JOIN weir.artifact r
            ON r.handle = substr(x.h, 1, 10) AND r.tenant_id = t WHERE r.hash <> x.h LIMIT 1;
        IF bad IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'WR001', MESSAGE = 'another text has this handle',
                DETAIL = encode(bad, 'hex');
        END IF;
        IF a_heals <> 0 THEN
            UPDATE weir.artifact r SET text_bytes = x.tb, stored_bytes = x.sb, codec = x.co, chunks = x.ch,
                data = x.d FROM unnest(a_hash, a_bytes, a_stored, a_codec, a_chunks, a_data)
                AS x(h, tb, sb, co, ch, d) WHERE r.handle = substr(x.h, 1, 10) AND r.tenant_id = t;
        END IF;
        DELETE FROM weir.expired e USING unnest(a_hash) AS x(h)
            WHERE e.handle = substr(x.h, 1, 10) AND e.tenant_id = t;
        INSERT INTO weir.artifact_use SELECT s, r.id, v FROM unnest(a_hash) AS x(h)
            JOIN weir.artifact r ON r.handle = substr(x.h, 1, 10) AND r.tenant_id = t
            ORDER BY r.id ON CONFLICT DO NOTHING;
    END IF;

    -- Most are new, and then this is all.
    IF cardinality(m_key) > 0 THEN
        WITH made AS (INSERT INTO weir.mark(tenant_id, key, kind, value) SELECT t, x.k, x.i, x.w
            FROM unnest(m_key, m_kind, m_value) AS x(k, i, w) ON CONFLICT DO NOTHING RETURNING id)
        INSERT INTO weir.mark_use SELECT s, made.id, v FROM made;
        GET DIAGNOSTICS k = ROW_COUNT;
        IF k <> cardinality(m_key) THEN
            INSERT INTO weir.mark_use SELECT s, y.id, v FROM unnest(m_key, m_kind, m_value) AS x(k, i, w)
                JOIN weir.mark y ON y.tenant_id = t AND y.key = x.k AND y.kind = x.i AND y.value = x.w
                ORDER BY y.id ON CONFLICT (session_id, mark_id) DO UPDATE SET version = excluded.version;
            GET DIAGNOSTICS k = ROW_COUNT;
        END IF;
        IF k <> cardinality(m_key) THEN
            RAISE EXCEPTION USING ERRCODE = 'WR002', MESSAGE = 'the mark has another value';
        END IF;
    END IF;
    IF cardinality(r_key) > 0 THEN
        WITH made AS (INSERT INTO weir.mark AS y (tenant_id, key, kind, value) SELECT t, x.k, x.i, x.w
            FROM unnest(r_key, r_kind, r_value) AS x(k, i, w)
            ON CONFLICT (tenant_id, key, kind) DO UPDATE SET value = excluded.value RETURNING y.id)
        INSERT INTO weir.mark_use SELECT s, made.id, v FROM made
            ON CONFLICT (session_id, mark_id) DO UPDATE SET version = excluded.version;
    END IF;

    IF cardinality(p_model) > 0 THEN
        INSERT INTO weir.pin AS p (session_id, model, first_turn, value, version)
            SELECT s, x.m, x.f, x.w, v FROM unnest(p_model, p_turn, p_value, p_replaces) AS x(m, f, w, r)
            WHERE x.r = 0 ON CONFLICT DO NOTHING;
        INSERT INTO weir.pin AS p (session_id, model, first_turn, value, version)
            SELECT s, x.m, x.f, x.w, v FROM unnest(p_model, p_turn, p_value, p_replaces) AS x(m, f, w, r)
            WHERE x.r <> 0 ON CONFLICT (session_id, model, first_turn)
            DO UPDATE SET value = excluded.value, version = excluded.version WHERE p.value <> excluded.value;
        PERFORM 1 FROM unnest(p_model, p_turn, p_value) AS x(m, f, w) JOIN weir.pin p
            ON p.session_id = s AND p.model = x.m AND p.first_turn = x.f WHERE p.value <> x.w;
        IF FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'WR002', MESSAGE = 'the pin has another value';
        END IF;
    END IF;
    RETURN QUERY SELECT 0::bigint, s, v, NULL::bytea, NULL::bytea, NULL::bytea;
END $$;

-- The functions of schema 1 that this release calls as they are get the same settings.
ALTER FUNCTION weir.news_1 SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION weir.news_1 SET enable_seqscan = off;
ALTER FUNCTION weir.news_1 SET enable_hashjoin = off;
ALTER FUNCTION weir.news_1 SET enable_mergejoin = off;
ALTER FUNCTION weir.load_1 SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION weir.load_1 SET enable_seqscan = off;
ALTER FUNCTION weir.commit_1 SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION weir.commit_1 SET enable_seqscan = off;
ALTER FUNCTION weir.commit_1 SET enable_hashjoin = off;
ALTER FUNCTION weir.commit_1 SET enable_mergejoin = off;
ALTER FUNCTION weir.keep_1 SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION weir.keep_1 SET enable_seqscan = off;
ALTER FUNCTION weir.get_1 SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION weir.get_1 SET enable_seqscan = off;

-- What requests said. First which pieces their sessions lack: p_session and p_hash are of one length, and
-- the numbers are places in them. Then, as said_1, many of them: pieces and lists with the session and the
-- request of each. Gives the places of the requests that were kept.
CREATE FUNCTION weir.said_lacks_2(p_session bigint[], p_hash bytea[]) RETURNS TABLE(place bigint)
    LANGUAGE sql STABLE SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    SELECT min(x.at) FROM unnest(p_session, p_hash) WITH ORDINALITY AS x(s, h, at)
        WHERE NOT EXISTS (SELECT 1 FROM weir.piece p WHERE p.session_id = x.s AND p.hash = x.h)
        GROUP BY x.s, x.h
$$;

CREATE FUNCTION weir.said_2(p_request bigint[], p_session bigint[], p_time bigint[], p_came bytea[],
    p_sent bytea[], p_report bytea[],
    q_session bigint[], q_hash bytea[], q_bytes bigint[], q_codec bigint[], q_data bytea[])
    RETURNS TABLE(place bigint)
    LANGUAGE plpgsql SET lock_timeout = '1500ms' SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM 1 FROM weir.session x WHERE x.id = ANY(p_session) ORDER BY x.id FOR KEY SHARE;
    INSERT INTO weir.piece SELECT x.s, x.h, x.b, x.c, x.d
        FROM unnest(q_session, q_hash, q_bytes, q_codec, q_data) AS x(s, h, b, c, d)
        WHERE EXISTS (SELECT 1 FROM weir.session y WHERE y.id = x.s)
        ORDER BY x.s, x.h ON CONFLICT DO NOTHING;
    INSERT INTO weir.said SELECT x.r, x.s, x.t, x.c, x.n, x.p
        FROM unnest(p_request, p_session, p_time, p_came, p_sent, p_report) AS x(r, s, t, c, n, p)
        WHERE EXISTS (SELECT 1 FROM weir.session y WHERE y.id = x.s) ON CONFLICT DO NOTHING;
    RETURN QUERY SELECT x.at FROM unnest(p_request) WITH ORDINALITY AS x(r, at)
        JOIN weir.said d ON d.request_id = x.r;
END $$;

-- As drop_day_1, and the lock on weir.request, behind which every row of every node waits, is held for a
-- moment only: which rows stay, the newest of sessions that have none later, is found before it is taken.
CREATE FUNCTION weir.drop_day_2(p_before bigint) RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE name text; before bigint; kept weir.request[];
BEGIN
    PERFORM pg_advisory_xact_lock(2003134834, 3);
    SELECT c.relname INTO name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'weir.request'::regclass AND c.relname ~ '^request_[0-9]+$'
        AND (substr(c.relname, 9)::bigint + 1) * 86400000 <= p_before
        ORDER BY substr(c.relname, 9)::bigint LIMIT 1;
    IF name IS NULL THEN
        RETURN -1;
    END IF;
    EXECUTE format('SELECT count(*) FROM weir.%I', name) INTO before;
    EXECUTE format('SELECT array_agg(ROW(r.*)::weir.request) FROM (SELECT DISTINCT ON (session_id) * FROM weir.%I'
        ' ORDER BY session_id, id DESC) r WHERE NOT EXISTS (SELECT 1 FROM weir.request n'
        ' WHERE n.session_id = r.session_id AND n.id > r.id)', name) INTO kept;
    EXECUTE format('ALTER TABLE weir.request DETACH PARTITION weir.%I', name);
    INSERT INTO weir.request SELECT (unnest(kept)).*;
    EXECUTE format('DROP TABLE weir.%I', name);
    RETURN before - coalesce(cardinality(kept), 0);
END $$;
