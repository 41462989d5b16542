-- Schema 3: what users and teams have used, and what is held for requests under way (src/store/spend.h).
--
-- Whoever changes counters takes those of a user before those of a team, and minutes before days and
-- months, so that no two wait for each other. A row of weir.spend is changed by every request of its
-- user or team; there is room beside it, so that no index is touched.

CREATE TABLE weir.spend(scope bytea NOT NULL, period bigint NOT NULL, start_ms bigint NOT NULL,
    requests bigint NOT NULL, tokens bigint NOT NULL, micro_usd bigint NOT NULL,
    held_tokens bigint NOT NULL, held_micro_usd bigint NOT NULL,
    PRIMARY KEY(scope, period, start_ms)) WITH (fillfactor = 50);
CREATE TABLE weir.spend_hold(ticket bytea PRIMARY KEY, time_ms bigint NOT NULL, scopes bytea[] NOT NULL,
    starts bigint[] NOT NULL, tokens bigint NOT NULL, micro_usd bigint NOT NULL);
CREATE INDEX spend_hold_time ON weir.spend_hold(time_ms);

-- A row for each counter that was looked at, scope by scope, as it is with this request; the last one has
-- `over` 1 where that counter has no room, and is then as it was. p_limits has three for each counter:
-- requests, tokens, micro_usd. What is used up has no room for a request of any cost.
CREATE FUNCTION weir.reserve_1(p_ticket bytea, p_now bigint, p_scopes bytea[], p_starts bigint[],
    p_limits bigint[], p_tokens bigint, p_micro bigint)
    RETURNS TABLE(over bigint, o_requests bigint, o_tokens bigint, o_micro bigint, o_held_tokens bigint,
        o_held_micro bigint)
    LANGUAGE plpgsql SET lock_timeout = '1500ms' SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off AS $$
DECLARE c weir.spend; n int; at int; is_again boolean;
BEGIN
    n := cardinality(p_starts);
    is_again := EXISTS (SELECT 1 FROM weir.spend_hold h WHERE h.ticket = p_ticket);
    FOR s IN 1 .. cardinality(p_scopes) LOOP
        FOR p IN 1 .. n LOOP
            at := ((s - 1) * n + p - 1) * 3;
            LOOP
                SELECT * INTO c FROM weir.spend x WHERE x.scope = p_scopes[s] AND x.period = p - 1
                    AND x.start_ms = p_starts[p] FOR UPDATE;
                EXIT WHEN FOUND;
                INSERT INTO weir.spend VALUES(p_scopes[s], p - 1, p_starts[p], 0, 0, 0, 0, 0)
                    ON CONFLICT DO NOTHING;
            END LOOP;
            IF NOT is_again AND (c.requests >= p_limits[at + 1]
                OR c.tokens >= p_limits[at + 2] OR p_tokens > p_limits[at + 2] - c.tokens
                OR c.micro_usd >= p_limits[at + 3] OR p_micro > p_limits[at + 3] - c.micro_usd) THEN
                RETURN QUERY SELECT 1::bigint, c.requests, c.tokens, c.micro_usd, c.held_tokens,
                    c.held_micro_usd;
                RETURN;
            END IF;
            IF is_again THEN
                RETURN QUERY SELECT 0::bigint, c.requests, c.tokens, c.micro_usd, c.held_tokens,
                    c.held_micro_usd;
            ELSE
                RETURN QUERY SELECT 0::bigint, c.requests + 1, c.tokens + p_tokens, c.micro_usd + p_micro,
                    c.held_tokens + p_tokens, c.held_micro_usd + p_micro;
            END IF;
        END LOOP;
    END LOOP;
    IF is_again THEN
        RETURN;
    END IF;
    INSERT INTO weir.spend_hold VALUES(p_ticket, p_now, p_scopes, p_starts, p_tokens, p_micro);
    FOR s IN 1 .. cardinality(p_scopes) LOOP
        FOR p IN 1 .. n LOOP
            UPDATE weir.spend x SET requests = x.requests + 1, tokens = x.tokens + p_tokens,
                micro_usd = x.micro_usd + p_micro, held_tokens = x.held_tokens + p_tokens,
                held_micro_usd = x.held_micro_usd + p_micro
                WHERE x.scope = p_scopes[s] AND x.period = p - 1 AND x.start_ms = p_starts[p];
        END LOOP;
    END LOOP;
END $$;

-- A cost of -1: as much as was held. 0: the ticket is not held.
CREATE FUNCTION weir.settle_1(p_ticket bytea, p_tokens bigint, p_micro bigint) RETURNS bigint
    LANGUAGE plpgsql SET lock_timeout = '1500ms' SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off AS $$
DECLARE h weir.spend_hold; more_tokens bigint := 0; more_micro bigint := 0;
BEGIN
    DELETE FROM weir.spend_hold x WHERE x.ticket = p_ticket RETURNING * INTO h;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    IF p_tokens >= 0 THEN
        more_tokens := p_tokens - h.tokens;
        more_micro := p_micro - h.micro_usd;
    END IF;
    FOR s IN 1 .. cardinality(h.scopes) LOOP
        FOR p IN 1 .. cardinality(h.starts) LOOP
            UPDATE weir.spend x SET tokens = x.tokens + more_tokens, micro_usd = x.micro_usd + more_micro,
                held_tokens = x.held_tokens - h.tokens, held_micro_usd = x.held_micro_usd - h.micro_usd
                WHERE x.scope = h.scopes[s] AND x.period = p - 1 AND x.start_ms = h.starts[p];
        END LOOP;
    END LOOP;
    RETURN 1;
END $$;
