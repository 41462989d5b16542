-- Schema 5: commits of many sessions as one, and the reads that a session begins with as functions.

-- Commits of sessions that go on, as commit_2 makes them, in one transaction: one trip, one wait for the
-- disk, and one plan for all. p_id is in order, so that two calls wait for each other and do not block. What
-- belongs to a commit names its place in p_id: q_ the keys that may not be there, r_ its marks, all of which
-- replace. Gives the places of those that were made; of the others nothing is written, and commit_2 says why.
-- A session that somebody else is at is not waited for, and a mark only briefly: the others are in a hurry.
CREATE FUNCTION weir.commits_1(p_touch bigint, p_full bigint, p_id bigint[], p_known bigint[], p_used bigint[],
    o_name bytea[], o_id bigint[], o_version bigint[], q_place bigint[], q_key bytea[],
    r_place bigint[], r_key bytea[], r_kind bigint[], r_value bytea[]) RETURNS TABLE(place bigint)
    LANGUAGE plpgsql SET lock_timeout = '200ms' SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE g record; tenants bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_id)]);
BEGIN
    PERFORM pg_advisory_xact_lock_shared(2003134834, 1);
    IF p_full <> 0 AND current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    FOR g IN UPDATE weir.session x SET version = x.version + 1,
            used_ms = CASE WHEN c.used > x.used_ms AND c.used::numeric - x.used_ms >= p_touch THEN c.used
                ELSE x.used_ms END,
            used_day = CASE WHEN c.used > x.used_ms AND c.used::numeric - x.used_ms >= p_touch
                THEN c.used / 86400000 ELSE x.used_day END
        FROM (SELECT a.* FROM unnest(p_id, p_known, p_used, o_name, o_id, o_version)
                WITH ORDINALITY AS a(id, known, used, other, other_id, other_version, at)
            JOIN weir.session y ON y.id = a.id AND y.version = a.known FOR NO KEY UPDATE OF y SKIP LOCKED) c
        WHERE x.id = c.id AND x.version = c.known
        AND (c.other = '' OR coalesce((SELECT o.id = c.other_id AND o.version = c.other_version
            FROM weir.session o WHERE o.tenant_id = x.tenant_id AND o.name = c.other), c.other_id = 0))
        AND NOT EXISTS (SELECT 1 FROM unnest(q_place, q_key) AS q(at, key) CROSS JOIN LATERAL
            (SELECT 1 FROM weir.mark y WHERE y.tenant_id = x.tenant_id AND y.key = q.key LIMIT 1) found
            WHERE q.at = c.at)
        RETURNING c.at, x.tenant_id
    LOOP
        tenants[g.at] := g.tenant_id;
        place := g.at;
        RETURN NEXT;
    END LOOP;
    -- Two sessions that begin alike have a mark in common: it says which was here last.
    INSERT INTO weir.mark(tenant_id, key, kind, value)
        SELECT DISTINCT ON (y.t, y.key, y.kind) y.t, y.key, y.kind, y.value
        FROM (SELECT tenants[r.at] AS t, r.* FROM unnest(r_place, r_key, r_kind, r_value)
            AS r(at, key, kind, value) OFFSET 0) y WHERE y.t > 0 ORDER BY y.t, y.key, y.kind, y.at DESC
        ON CONFLICT (tenant_id, key, kind) DO UPDATE SET value = excluded.value;
    INSERT INTO weir.mark_use SELECT p_id[r.at], y.id, p_known[r.at] + 1
        FROM unnest(r_place, r_key, r_kind) AS r(at, key, kind)
        CROSS JOIN LATERAL (SELECT z.id FROM weir.mark z
            WHERE z.tenant_id = tenants[r.at] AND z.key = r.key AND z.kind = r.kind OFFSET 0) y
        ON CONFLICT (session_id, mark_id) DO UPDATE SET version = excluded.version;
END $$;

-- A statement of a node is planned at each call, or prepared while the tables were empty; here it is planned
-- once, by the index.
CREATE FUNCTION weir.marks_1(p_tenant bytea, p_keys bytea[])
    RETURNS TABLE(o_at bigint, o_kind bigint, o_value bytea)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE t bigint;
BEGIN
    SELECT x.id INTO t FROM weir.tenant x WHERE x.name = p_tenant;
    RETURN QUERY SELECT x.at, y.kind, y.value FROM unnest(p_keys) WITH ORDINALITY AS x(key, at)
        CROSS JOIN LATERAL (SELECT z.kind, z.value FROM weir.mark z WHERE z.tenant_id = t AND z.key = x.key
        OFFSET 0) y ORDER BY x.at, y.kind;
END $$;

CREATE FUNCTION weir.pin_1(p_tenant bytea, p_session bytea, p_model bytea, p_turn bytea)
    RETURNS TABLE(o_value bytea)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE t bigint; s bigint;
BEGIN
    SELECT x.id INTO t FROM weir.tenant x WHERE x.name = p_tenant;
    SELECT x.id INTO s FROM weir.session x WHERE x.tenant_id = t AND x.name = p_session;
    RETURN QUERY SELECT y.value FROM weir.pin y
        WHERE y.session_id = s AND y.model = p_model AND y.first_turn = p_turn;
END $$;

CREATE FUNCTION weir.note_1(p_tenant bytea, p_key bytea) RETURNS TABLE(o_data bytea)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE t bigint;
BEGIN
    SELECT x.id INTO t FROM weir.tenant x WHERE x.name = p_tenant;
    RETURN QUERY SELECT y.data FROM weir.note y WHERE y.tenant_id = t AND y.key = p_key;
END $$;
