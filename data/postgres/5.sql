-- Schema 5: the reads that a session begins with as functions.

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
