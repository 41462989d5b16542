-- The tables of a store in PostgreSQL, schema 1, and the functions that the hot path calls.
--
-- Names are bytea: Weir's names are bytes, whatever the encoding of the database. A function ends in
-- the number of its interface (_1): the next release may add _2 beside it, so that nodes of two
-- releases share a database while they are upgraded one by one. docs/store-format.md explains the
-- tables, docs/scale.md how large they grow.
--
-- Advisory locks (class 2003134834, "weir"): 1 a purge excludes commits; 2 rows of the ledger are
-- numbered in the order in which they become visible; 3 days are made and dropped by one at a time.

CREATE TABLE weir.place(id bigint NOT NULL);
INSERT INTO weir.place SELECT (random() * 4611686018427387904)::bigint + 1;

CREATE TABLE weir.tenant(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL UNIQUE);

-- `version` counts the commits of a session: a commit names the one it rests on. `used_day` is what
-- is indexed of the time, so that most updates touch no index.
CREATE TABLE weir.session(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id bigint NOT NULL,
    name bytea NOT NULL, used_ms bigint NOT NULL, used_day bigint NOT NULL, version bigint NOT NULL,
    UNIQUE(tenant_id, name)) WITH (fillfactor = 70);
CREATE INDEX session_day ON weir.session(used_day);

-- Compressed by Weir already, so PostgreSQL need not try. What is larger than a chunk has the rest
-- in artifact_chunk.
CREATE TABLE weir.artifact(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id bigint NOT NULL,
    handle bytea NOT NULL, hash bytea NOT NULL, text_bytes bigint NOT NULL, stored_bytes bigint NOT NULL,
    codec bigint NOT NULL, chunks bigint NOT NULL, data bytea NOT NULL, UNIQUE(handle, tenant_id));
ALTER TABLE weir.artifact ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE weir.artifact_chunk(tenant_id bigint NOT NULL, hash bytea NOT NULL, at bigint NOT NULL,
    data bytea NOT NULL, PRIMARY KEY(tenant_id, hash, at));
ALTER TABLE weir.artifact_chunk ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE weir.artifact_use(session_id bigint NOT NULL, artifact_id bigint NOT NULL
    REFERENCES weir.artifact, version bigint NOT NULL, PRIMARY KEY(session_id, artifact_id));
CREATE INDEX artifact_user ON weir.artifact_use(artifact_id);

CREATE TABLE weir.mark(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id bigint NOT NULL,
    key bytea NOT NULL, kind bigint NOT NULL, value bytea NOT NULL, UNIQUE(tenant_id, key, kind));
CREATE TABLE weir.mark_use(session_id bigint NOT NULL, mark_id bigint NOT NULL
    REFERENCES weir.mark, version bigint NOT NULL, PRIMARY KEY(session_id, mark_id));
CREATE INDEX mark_user ON weir.mark_use(mark_id);
CREATE TABLE weir.pin(session_id bigint NOT NULL, model bytea NOT NULL, first_turn bytea NOT NULL,
    value bytea NOT NULL, version bigint NOT NULL, PRIMARY KEY(session_id, model, first_turn));
CREATE TABLE weir.expired(handle bytea NOT NULL, tenant_id bigint NOT NULL, gone_ms bigint NOT NULL,
    PRIMARY KEY(handle, tenant_id));
CREATE INDEX expired_gone ON weir.expired(gone_ms);

-- One partition a day, which leaves whole. What has no day of its own is in request_rest.
CREATE SEQUENCE weir.request_id;
CREATE TABLE weir.request(id bigint NOT NULL DEFAULT nextval('weir.request_id'), ticket bigint NOT NULL,
    session_id bigint NOT NULL, time_ms bigint NOT NULL, agent bytea NOT NULL, model bytea NOT NULL,
    line bytea NOT NULL, PRIMARY KEY(id, time_ms), UNIQUE(ticket, time_ms)) PARTITION BY RANGE (time_ms);
CREATE INDEX request_session ON weir.request(session_id, id);
CREATE INDEX request_time ON weir.request(time_ms);
CREATE TABLE weir.request_rest PARTITION OF weir.request DEFAULT;

CREATE TABLE weir.report(session_id bigint PRIMARY KEY, time_ms bigint NOT NULL, model bytea NOT NULL,
    text_bytes bigint NOT NULL, codec bigint NOT NULL, data bytea NOT NULL);
CREATE TABLE weir.sample(bucket bytea NOT NULL, session_id bigint NOT NULL, time_ms bigint NOT NULL,
    is_bad bigint NOT NULL, PRIMARY KEY(bucket, session_id));
CREATE INDEX sample_session ON weir.sample(session_id);
CREATE SEQUENCE weir.note_id;
CREATE TABLE weir.note(id bigint NOT NULL DEFAULT nextval('weir.note_id') PRIMARY KEY, tenant_id bigint NOT NULL,
    key bytea NOT NULL, session_id bigint NOT NULL, time_ms bigint NOT NULL, data bytea NOT NULL,
    UNIQUE(tenant_id, key));
CREATE INDEX note_session ON weir.note(session_id, id);
-- What requests said (`keep: transcript`): the hashes of its pieces, 16 bytes each, one behind the other.
CREATE TABLE weir.piece(session_id bigint NOT NULL, hash bytea NOT NULL, text_bytes bigint NOT NULL,
    codec bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY(session_id, hash));
ALTER TABLE weir.piece ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE weir.said(request_id bigint PRIMARY KEY, session_id bigint NOT NULL, time_ms bigint NOT NULL,
    came bytea NOT NULL, sent bytea NOT NULL, report bytea NOT NULL);
CREATE INDEX said_session ON weir.said(session_id, request_id);
CREATE TABLE weir.calibration(model bytea PRIMARY KEY, time_ms bigint NOT NULL, accepted_tokens bigint NOT NULL,
    data bytea NOT NULL);

-- ---- names ----

CREATE FUNCTION weir.need_tenant_1(p_name bytea) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE t bigint;
BEGIN
    SELECT id INTO t FROM weir.tenant WHERE name = p_name;
    IF t IS NULL THEN
        INSERT INTO weir.tenant(name) VALUES(p_name) ON CONFLICT DO NOTHING;
        SELECT id INTO t FROM weir.tenant WHERE name = p_name;
    END IF;
    RETURN t;
END $$;

-- For rows of the ledger: the session may not leave before they are there.
CREATE FUNCTION weir.need_session_1(p_tenant bigint, p_name bytea, p_used bigint, p_touch bigint)
    RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE s bigint; u bigint;
BEGIN
    LOOP
        SELECT id, used_ms INTO s, u FROM weir.session WHERE tenant_id = p_tenant AND name = p_name
            FOR KEY SHARE;
        EXIT WHEN s IS NOT NULL;
        INSERT INTO weir.session(tenant_id, name, used_ms, used_day, version)
            VALUES(p_tenant, p_name, p_used, p_used / 86400000, 0) ON CONFLICT DO NOTHING;
    END LOOP;
    IF p_used > u AND p_used::numeric - u >= p_touch THEN
        UPDATE weir.session SET used_ms = p_used, used_day = p_used / 86400000 WHERE id = s;
    END IF;
    RETURN s;
END $$;

-- ---- a session, as far as a node does not know it ----
--
-- what 0: n its number (0: there is none), m its version; 1: a mark of it, n the kind, a the key, b
-- the value; 2: a pin, a the model, b the first turn, c the value; 3: a is the hash of an original; 4:
-- a mark of one of the keys asked for, as 1.

CREATE FUNCTION weir.news_1(p_tenant bigint, p_session bigint, p_known bigint)
    RETURNS TABLE(what bigint, n bigint, m bigint, a bytea, b bytea, c bytea) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT 1::bigint, k.kind, 0::bigint, k.key, k.value, NULL::bytea
        FROM weir.mark_use u JOIN weir.mark k ON k.id = u.mark_id
        WHERE u.session_id = p_session AND u.version > p_known;
    RETURN QUERY SELECT 2::bigint, 0::bigint, 0::bigint, p.model, p.first_turn, p.value
        FROM weir.pin p WHERE p.session_id = p_session AND p.version > p_known;
    RETURN QUERY SELECT 3::bigint, 0::bigint, 0::bigint, r.hash, NULL::bytea, NULL::bytea
        FROM weir.artifact_use u JOIN weir.artifact r ON r.id = u.artifact_id
        WHERE u.session_id = p_session AND u.version > p_known;
END $$;

CREATE FUNCTION weir.load_1(p_tenant bytea, p_session bytea, p_id bigint, p_known bigint, p_keys bytea[])
    RETURNS TABLE(what bigint, n bigint, m bigint, a bytea, b bytea, c bytea) LANGUAGE plpgsql STABLE AS $$
DECLARE t bigint; s bigint; v bigint;
BEGIN
    SELECT id INTO t FROM weir.tenant WHERE name = p_tenant;
    SELECT x.id, x.version INTO s, v FROM weir.session x WHERE x.tenant_id = t AND x.name = p_session;
    RETURN QUERY SELECT 0::bigint, coalesce(s, 0), coalesce(v, 0), NULL::bytea, NULL::bytea, NULL::bytea;
    IF s IS NOT NULL AND (s <> p_id OR v <> p_known) THEN
        RETURN QUERY SELECT * FROM weir.news_1(t, s, CASE WHEN s = p_id THEN p_known ELSE -1 END);
    END IF;
    IF cardinality(p_keys) > 0 THEN
        RETURN QUERY SELECT 4::bigint, k.kind, 0::bigint, k.key, k.value, NULL::bytea
            FROM weir.mark k WHERE k.tenant_id = t AND k.key = ANY(p_keys);
    END IF;
END $$;

-- ---- a commit ----
--
-- Conditional where p_known is not -1: the session must have that version (0: there is none yet), and
-- no mark may have a key of p_absent; else nothing is written and what is new comes back, as of
-- load_1, behind a row with `what` -1. Written: a row with `what` 0. What collides (WR001) or has
-- another value (WR002) takes all of it back. Rows are written in the order of their keys, so that
-- two commits wait for one another and do not block each other.

CREATE FUNCTION weir.chunk_1(p_tenant bytea, p_hash bytea, p_at bigint, p_data bytea) RETURNS void
    LANGUAGE sql AS $$
    INSERT INTO weir.artifact_chunk VALUES(weir.need_tenant_1(p_tenant), p_hash, p_at, p_data)
        ON CONFLICT (tenant_id, hash, at) DO UPDATE SET data = excluded.data
        WHERE weir.artifact_chunk.data <> excluded.data
$$;

CREATE FUNCTION weir.commit_1(p_tenant bytea, p_session bytea, p_used bigint, p_touch bigint,
    p_id bigint, p_known bigint, p_absent bytea[],
    a_hash bytea[], a_bytes bigint[], a_stored bigint[], a_codec bigint[], a_chunks bigint[], a_data bytea[],
    a_heals bigint, m_key bytea[], m_kind bigint[], m_value bytea[], m_replaces bigint[],
    p_model bytea[], p_turn bytea[], p_value bytea[], p_replaces bigint[])
    RETURNS TABLE(what bigint, n bigint, m bigint, a bytea, b bytea, c bytea)
    LANGUAGE plpgsql SET lock_timeout = '1500ms' AS $$
DECLARE t bigint; s bigint; v bigint; u bigint; bad bytea; due boolean;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(2003134834, 1);
    t := weir.need_tenant_1(p_tenant);
    LOOP
        SELECT x.id, x.version, x.used_ms INTO s, v, u FROM weir.session x
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
    due := p_used > u AND p_used::numeric - u >= p_touch;
    IF cardinality(p_absent) > 0
        AND EXISTS (SELECT 1 FROM weir.mark k WHERE k.tenant_id = t AND k.key = ANY(p_absent)) THEN
        RETURN QUERY SELECT -1::bigint, s, v, NULL::bytea, NULL::bytea, NULL::bytea;
        RETURN QUERY SELECT 4::bigint, k.kind, 0::bigint, k.key, k.value, NULL::bytea
            FROM weir.mark k WHERE k.tenant_id = t AND k.key = ANY(p_absent);
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
        INSERT INTO weir.artifact_use SELECT s, r.id, v + 1 FROM unnest(a_hash) AS x(h)
            JOIN weir.artifact r ON r.handle = substr(x.h, 1, 10) AND r.tenant_id = t
            ORDER BY r.id ON CONFLICT DO NOTHING;
    END IF;

    IF cardinality(m_key) > 0 THEN
        INSERT INTO weir.mark AS k (tenant_id, key, kind, value)
            SELECT t, x.k, x.i, x.w FROM unnest(m_key, m_kind, m_value, m_replaces) AS x(k, i, w, r)
            WHERE x.r = 0 ORDER BY x.k, x.i ON CONFLICT DO NOTHING;
        INSERT INTO weir.mark AS k (tenant_id, key, kind, value)
            SELECT t, x.k, x.i, x.w FROM unnest(m_key, m_kind, m_value, m_replaces) AS x(k, i, w, r)
            WHERE x.r <> 0 ORDER BY x.k, x.i
            ON CONFLICT (tenant_id, key, kind) DO UPDATE SET value = excluded.value
            WHERE k.value <> excluded.value;
        INSERT INTO weir.mark_use SELECT s, k.id, v + 1 FROM unnest(m_key, m_kind, m_value) AS x(k, i, w)
            JOIN weir.mark k ON k.tenant_id = t AND k.key = x.k AND k.kind = x.i AND k.value = x.w
            ORDER BY k.id ON CONFLICT (session_id, mark_id) DO UPDATE SET version = excluded.version;
        GET DIAGNOSTICS u = ROW_COUNT;
        IF u <> cardinality(m_key) THEN
            RAISE EXCEPTION USING ERRCODE = 'WR002', MESSAGE = 'the mark has another value';
        END IF;
    END IF;

    IF cardinality(p_model) > 0 THEN
        INSERT INTO weir.pin AS p (session_id, model, first_turn, value, version)
            SELECT s, x.m, x.f, x.w, v + 1 FROM unnest(p_model, p_turn, p_value, p_replaces) AS x(m, f, w, r)
            WHERE x.r = 0 ON CONFLICT DO NOTHING;
        INSERT INTO weir.pin AS p (session_id, model, first_turn, value, version)
            SELECT s, x.m, x.f, x.w, v + 1 FROM unnest(p_model, p_turn, p_value, p_replaces) AS x(m, f, w, r)
            WHERE x.r <> 0 ON CONFLICT (session_id, model, first_turn)
            DO UPDATE SET value = excluded.value, version = excluded.version WHERE p.value <> excluded.value;
        PERFORM 1 FROM unnest(p_model, p_turn, p_value) AS x(m, f, w) JOIN weir.pin p
            ON p.session_id = s AND p.model = x.m AND p.first_turn = x.f WHERE p.value <> x.w;
        IF FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'WR002', MESSAGE = 'the pin has another value';
        END IF;
    END IF;

    UPDATE weir.session x SET version = v + 1,
        used_ms = CASE WHEN due THEN p_used ELSE x.used_ms END,
        used_day = CASE WHEN due THEN p_used / 86400000 ELSE x.used_day END WHERE x.id = s;
    RETURN QUERY SELECT 0::bigint, s, v + 1, NULL::bytea, NULL::bytea, NULL::bytea;
END $$;

-- ---- an original ----
--
-- what 0: found, n text_bytes, m codec, a hash, b data, c NULL; rows 1: its further chunks in b; 2 expired;
-- 3 never stored; 4 of another tenant, for an operator only: for a tenant that is not even looked for.

CREATE FUNCTION weir.get_1(p_tenant bytea, p_handle bytea, p_operator bigint)
    RETURNS TABLE(what bigint, n bigint, m bigint, a bytea, b bytea, c bytea) LANGUAGE plpgsql STABLE AS $$
DECLARE t bigint; k bigint; h bytea;
BEGIN
    SELECT id INTO t FROM weir.tenant WHERE name = p_tenant;
    RETURN QUERY SELECT 0::bigint, r.text_bytes, r.codec, r.hash, r.data, NULL::bytea
        FROM weir.artifact r WHERE r.handle = p_handle AND r.tenant_id = t;
    IF FOUND THEN
        SELECT r.chunks, r.hash INTO k, h FROM weir.artifact r WHERE r.handle = p_handle AND r.tenant_id = t;
        IF k > 0 THEN
            RETURN QUERY SELECT 1::bigint, x.at, 0::bigint, NULL::bytea, x.data, NULL::bytea
                FROM weir.artifact_chunk x WHERE x.tenant_id = t AND x.hash = h ORDER BY x.at;
        END IF;
    ELSIF EXISTS (SELECT 1 FROM weir.expired e WHERE e.handle = p_handle AND e.tenant_id = t) THEN
        RETURN QUERY SELECT 2::bigint, 0::bigint, 0::bigint, NULL::bytea, NULL::bytea, NULL::bytea;
    ELSIF p_operator <> 0 AND EXISTS (SELECT 1 FROM weir.artifact r WHERE r.handle = p_handle) THEN
        RETURN QUERY SELECT 4::bigint, 0::bigint, 0::bigint, NULL::bytea, NULL::bytea, NULL::bytea;
    ELSE
        RETURN QUERY SELECT 3::bigint, 0::bigint, 0::bigint, NULL::bytea, NULL::bytea, NULL::bytea;
    END IF;
END $$;

-- ---- what leaves ----

-- A session with all that only it refers to. What another commit refers to meanwhile is seen by the
-- foreign key, and the call fails whole and is made again. 0 rows: it is not there, or was used since.
CREATE FUNCTION weir.remove_session_1(p_session bigint, p_before bigint, p_remembers bigint, p_now bigint)
    RETURNS TABLE(artifacts bigint, marks bigint, pins bigint, requests bigint, bytes bigint)
    LANGUAGE plpgsql SET lock_timeout = '1500ms' AS $$
DECLARE mine bigint[]; size bigint;
BEGIN
    PERFORM 1 FROM weir.session x WHERE x.id = p_session AND x.used_ms < p_before FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT array_agg(u.artifact_id) INTO mine FROM weir.artifact_use u WHERE u.session_id = p_session
        AND NOT EXISTS (SELECT 1 FROM weir.artifact_use o WHERE o.artifact_id = u.artifact_id
            AND o.session_id <> p_session);
    DELETE FROM weir.artifact_use u WHERE u.session_id = p_session;
    SELECT coalesce(sum(r.stored_bytes), 0)::bigint INTO bytes FROM weir.artifact r WHERE r.id = ANY(mine);
    IF p_remembers <> 0 THEN
        INSERT INTO weir.expired AS e SELECT r.handle, r.tenant_id, p_now FROM weir.artifact r
            WHERE r.id = ANY(mine) ON CONFLICT (handle, tenant_id) DO UPDATE SET gone_ms = excluded.gone_ms;
    END IF;
    DELETE FROM weir.artifact_chunk c USING weir.artifact r
        WHERE r.id = ANY(mine) AND r.chunks > 0 AND c.tenant_id = r.tenant_id AND c.hash = r.hash;
    DELETE FROM weir.artifact r WHERE r.id = ANY(mine);
    GET DIAGNOSTICS artifacts = ROW_COUNT;
    SELECT array_agg(u.mark_id) INTO mine FROM weir.mark_use u WHERE u.session_id = p_session
        AND NOT EXISTS (SELECT 1 FROM weir.mark_use o WHERE o.mark_id = u.mark_id
            AND o.session_id <> p_session);
    DELETE FROM weir.mark_use u WHERE u.session_id = p_session;
    DELETE FROM weir.mark k WHERE k.id = ANY(mine);
    GET DIAGNOSTICS marks = ROW_COUNT;
    DELETE FROM weir.pin p WHERE p.session_id = p_session;
    GET DIAGNOSTICS pins = ROW_COUNT;
    SELECT coalesce(sum(octet_length(r.line)), 0) INTO size FROM weir.request r WHERE r.session_id = p_session;
    bytes := bytes + size;
    SELECT coalesce(sum(octet_length(r.data)), 0) INTO size FROM weir.report r WHERE r.session_id = p_session;
    bytes := bytes + size;
    SELECT coalesce(sum(octet_length(r.data)), 0) INTO size FROM weir.note r WHERE r.session_id = p_session;
    bytes := bytes + size;
    SELECT coalesce(sum(octet_length(r.data)), 0) INTO size FROM weir.piece r WHERE r.session_id = p_session;
    bytes := bytes + size;
    DELETE FROM weir.said r WHERE r.session_id = p_session;
    DELETE FROM weir.piece r WHERE r.session_id = p_session;
    DELETE FROM weir.request r WHERE r.session_id = p_session;
    GET DIAGNOSTICS requests = ROW_COUNT;
    DELETE FROM weir.report r WHERE r.session_id = p_session;
    DELETE FROM weir.sample r WHERE r.session_id = p_session;
    DELETE FROM weir.note r WHERE r.session_id = p_session;
    DELETE FROM weir.session x WHERE x.id = p_session;
    RETURN NEXT;
END $$;

-- The days around p_now, so that rows of them find a partition. One that rows of the rest are in
-- already goes without.
CREATE FUNCTION weir.make_days_1(p_now bigint) RETURNS void LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE d bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(2003134834, 3);
    FOR d IN SELECT generate_series(p_now / 86400000, p_now / 86400000 + 2) LOOP
        IF to_regclass('weir.request_' || d) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE TABLE weir.%I PARTITION OF weir.request FOR VALUES FROM (%s) TO (%s)',
                    'request_' || d, d * 86400000, (d + 1) * 86400000);
            EXCEPTION WHEN check_violation OR lock_not_available OR duplicate_table THEN
                NULL;
            END;
        END IF;
    END LOOP;
END $$;

-- The oldest day that lies before p_before leaves whole; the newest row of a session that stays is
-- put among the rest. Says how many rows left, -1 where there is no such day.
CREATE FUNCTION weir.drop_day_1(p_before bigint) RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE name text; before bigint; kept bigint;
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
    EXECUTE format('ALTER TABLE weir.request DETACH PARTITION weir.%I', name);
    EXECUTE format('INSERT INTO weir.request SELECT r.* FROM weir.%I r WHERE NOT EXISTS (SELECT 1 FROM'
        ' weir.request n WHERE n.session_id = r.session_id AND n.id > r.id) AND NOT EXISTS (SELECT 1 FROM'
        ' weir.%I n WHERE n.session_id = r.session_id AND n.id > r.id)', name, name);
    GET DIAGNOSTICS kept = ROW_COUNT;
    EXECUTE format('DROP TABLE weir.%I', name);
    RETURN before - kept;
END $$;

-- ---- the ledger ----

-- Rows and notes of one call; gives the numbers of each row and of its session. A ticket makes a call
-- that is repeated, because its answer was lost, keep its rows once: then nothing comes back for them.
CREATE FUNCTION weir.keep_1(p_ticket bigint, p_touch bigint, p_notes_max bigint,
    r_tenant bytea[], r_session bytea[], r_time bigint[], r_agent bytea[], r_model bytea[], r_line bytea[],
    r_bytes bigint[], r_codec bigint[], r_report bytea[],
    n_tenant bytea[], n_session bytea[], n_key bytea[], n_time bigint[], n_data bytea[])
    RETURNS TABLE(at bigint, request_id bigint, session_id bigint)
    LANGUAGE plpgsql SET lock_timeout = '1500ms' AS $$
DECLARE t bigint; s bigint; q bigint; last_tenant bytea; last_session bytea; last_time bigint;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(2003134834, 1);
    PERFORM pg_advisory_xact_lock(2003134834, 2);
    FOR i IN 1 .. cardinality(r_tenant) LOOP
        IF last_tenant IS DISTINCT FROM r_tenant[i] THEN
            t := weir.need_tenant_1(r_tenant[i]);
            last_session := NULL;
        END IF;
        IF last_session IS DISTINCT FROM r_session[i] OR r_time[i] > last_time THEN
            s := weir.need_session_1(t, r_session[i], r_time[i], p_touch);
        END IF;
        last_tenant := r_tenant[i];
        last_session := r_session[i];
        last_time := r_time[i];
        INSERT INTO weir.request AS r(ticket, session_id, time_ms, agent, model, line)
            VALUES(p_ticket + i, s, r_time[i], r_agent[i], r_model[i], r_line[i])
            ON CONFLICT DO NOTHING RETURNING r.id INTO q;
        RETURN QUERY SELECT i::bigint, q, s WHERE q IS NOT NULL;
        IF r_bytes[i] > 0 THEN
            INSERT INTO weir.report AS r VALUES(s, r_time[i], r_model[i], r_bytes[i], r_codec[i], r_report[i])
                ON CONFLICT ON CONSTRAINT report_pkey DO UPDATE SET time_ms = excluded.time_ms, model = excluded.model,
                text_bytes = excluded.text_bytes, codec = excluded.codec, data = excluded.data;
        END IF;
    END LOOP;
    FOR i IN 1 .. cardinality(n_tenant) LOOP
        t := weir.need_tenant_1(n_tenant[i]);
        s := weir.need_session_1(t, n_session[i], n_time[i], p_touch);
        INSERT INTO weir.note(tenant_id, key, session_id, time_ms, data)
            VALUES(t, n_key[i], s, n_time[i], n_data[i])
            ON CONFLICT ON CONSTRAINT note_tenant_id_key_key DO UPDATE SET id = nextval('weir.note_id'),
            session_id = excluded.session_id, time_ms = excluded.time_ms, data = excluded.data;
        DELETE FROM weir.note x WHERE x.session_id = s AND x.id <= (SELECT y.id FROM weir.note y
            WHERE y.session_id = s ORDER BY y.id DESC LIMIT 1 OFFSET p_notes_max);
    END LOOP;
END $$;

-- What a request said, with the pieces that its session lacked. False: a piece has left meanwhile.
CREATE FUNCTION weir.said_1(p_request bigint, p_session bigint, p_time bigint, p_came bytea, p_sent bytea,
    p_report bytea, p_hash bytea[], p_bytes bigint[], p_codec bigint[], p_data bytea[], p_all bytea[])
    RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '1500ms' AS $$
BEGIN
    PERFORM 1 FROM weir.session x WHERE x.id = p_session FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    INSERT INTO weir.piece SELECT p_session, x.h, x.b, x.c, x.d
        FROM unnest(p_hash, p_bytes, p_codec, p_data) AS x(h, b, c, d) ORDER BY x.h ON CONFLICT DO NOTHING;
    IF EXISTS (SELECT 1 FROM unnest(p_all) AS x(h) WHERE NOT EXISTS (SELECT 1 FROM weir.piece p
        WHERE p.session_id = p_session AND p.hash = x.h)) THEN
        RETURN 0;
    END IF;
    INSERT INTO weir.said VALUES(p_request, p_session, p_time, p_came, p_sent, p_report)
        ON CONFLICT DO NOTHING;
    RETURN 1;
END $$;
