-- The tables of a store, and the one step that an attempt is. Made once, in a database that holds
-- nothing else of ours.
CREATE TABLE store_birth (
  version       bigint NOT NULL,
  wall_ahead_ns bigint NOT NULL -- how far the wall clock was ahead of the monotonic clock
);
CREATE TABLE store_resource (
  name    text PRIMARY KEY,
  highest bigint, -- highest fencing token accepted
  holder  text,   -- the grant that raised the mark to it
  write   text    -- the write whose value stands
);
-- The inbox: one row a job, by its key.
CREATE TABLE store_job (
  resource text NOT NULL,
  name     text NOT NULL,
  times    bigint NOT NULL, -- how often it took effect
  PRIMARY KEY (resource, name)
);
CREATE TABLE store_outbox (
  n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  resource text NOT NULL,
  job      text NOT NULL
);
-- A sequence would leave gaps where a transaction is rolled back, and its numbers would not be in
-- the order of commits.
CREATE TABLE store_count (n bigint NOT NULL);
INSERT INTO store_count VALUES (0);
CREATE TABLE store_attempt (
  n           bigint PRIMARY KEY,
  kind        text NOT NULL, -- write, seal or read
  resource    text NOT NULL,
  write       text NOT NULL,
  based_on    text,
  holder      text,          -- the grant that the writer claims
  fencing     bigint,
  job         text,
  if_pending  boolean NOT NULL, -- it was to be made only if its job was pending
  accepted    boolean NOT NULL,
  done_before boolean NOT NULL,
  highest     bigint,        -- before this attempt
  applied     bigint NOT NULL -- the server's wall clock, µs
);
CREATE FUNCTION store_log_stands() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE 'append only'; END $$;
CREATE TRIGGER store_log_stands BEFORE UPDATE OR DELETE OR TRUNCATE ON store_attempt
  EXECUTE FUNCTION store_log_stands();

-- Decides, logs, and if accepted, writes. `decision` is who decides: inside (the condition of the
-- UPDATE), yes or no. `look` is who looks whether the job is done: blind (nobody), inside, or done (it was
-- looked at, and is). Where a read is fenced it raises the mark as a write does.
CREATE FUNCTION store_attempt(
  decision text, only_newer boolean, look text, fill_outbox boolean,
  kind text, thing text, id text, based text, claimed text, token bigint, work text, if_pending boolean,
  OUT answer text, OUT was bigint, OUT shown text
) LANGUAGE plpgsql AS $$
DECLARE
  place bigint;
  moment bigint;
  accepted boolean;
  done boolean := false;
BEGIN
  -- One attempt after another: the count's row is held until the commit.
  UPDATE store_count SET n = n + 1 RETURNING n INTO place;
  moment := floor(extract(epoch FROM clock_timestamp()) * 1000000);
  INSERT INTO store_resource (name) VALUES (thing) ON CONFLICT DO NOTHING;
  SELECT highest, CASE WHEN kind = 'read' THEN write END INTO was, shown
    FROM store_resource WHERE name = thing;
  IF kind = 'write' AND work IS NOT NULL THEN
    done := look = 'done' OR (look = 'inside'
      AND EXISTS (SELECT FROM store_job WHERE resource = thing AND name = work));
  END IF;
  IF done THEN
    accepted := true;
  ELSIF kind = 'read' AND decision <> 'inside' THEN
    accepted := decision = 'yes';
  ELSE
    UPDATE store_resource SET
        highest = greatest(highest, token),
        holder = CASE WHEN highest IS NULL OR token > highest THEN claimed ELSE holder END,
        write = CASE WHEN kind = 'write' THEN id ELSE write END
      WHERE name = thing AND CASE decision
        WHEN 'inside' THEN token IS NOT NULL AND (highest IS NULL OR token > highest
          OR (token = highest AND holder = claimed AND NOT only_newer))
        ELSE decision = 'yes' END;
    accepted := FOUND;
    IF accepted AND kind <> 'read' AND work IS NOT NULL THEN
      INSERT INTO store_job AS job VALUES (thing, work, 1)
        ON CONFLICT (resource, name) DO UPDATE SET times = job.times + 1;
      IF fill_outbox THEN
        INSERT INTO store_outbox (resource, job) VALUES (thing, work);
      END IF;
    END IF;
  END IF;
  IF NOT accepted THEN
    shown := NULL;
  END IF;
  INSERT INTO store_attempt VALUES (place, kind, thing, id, CASE kind WHEN 'read' THEN shown ELSE based END,
    claimed, token, work, if_pending, accepted, done, was, moment);
  answer := CASE WHEN done THEN 'done before' WHEN accepted THEN 'accepted' ELSE 'rejected' END;
END $$;
