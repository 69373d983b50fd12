-- One attempt: decide, log, and if accepted, write. All keys are read before either is changed,
-- so that an error of the server means that nothing was done.
-- KEYS: resource (highest, grant, write), log, jobs (how often each took effect), outbox.
-- ARGV: who decides (inside, yes, no), once (0, 1), kind (write, seal, read), fencing token or '',
-- grant or '', write, the attempt as JSON, job or '', who looks whether the job is done (blind: nobody,
-- inside, done: it was looked at and is), jobs go into the outbox too (0, 1).
-- Returns {2 if its job was done before, 1 if accepted or 0, highest fencing token before or '',
-- the write that a read was shown or ''}.
local decision, once, kind, fencing, grant, write, attempt, job, look, outbox = unpack(ARGV)
local highest, holder, standing = unpack(redis.call('HMGET', KEYS[1], 'highest', 'grant', 'write'))
redis.call('LLEN', KEYS[2])
redis.call('LLEN', KEYS[4])
local times = redis.call('HGET', KEYS[3], job)
local time = redis.call('TIME')

-- Compared as text: a Lua number is exact up to 2^53 only.
local function newer(one, other)
  if #one ~= #other then
    return #one > #other
  end
  return one > other
end

local function admits()
  if fencing == '' then
    return false
  end
  if not highest then
    return true
  end
  if fencing == highest then
    return once == '0' and grant ~= '' and grant == holder
  end
  return newer(fencing, highest)
end

-- Whatever its token: it changes nothing, and its writer is to know that the work is done.
local done = kind == 'write' and (look == 'done' or (look == 'inside' and times))
local accepted = not done and (decision == 'yes' or (decision == 'inside' and admits()))
local answer = done and 2 or accepted and 1 or 0
local shown = kind == 'read' and accepted and standing or nil
local line = {tostring(answer), kind, highest or '-', time[1], time[2], shown or '-', attempt}
redis.call('RPUSH', KEYS[2], table.concat(line, ' '))
-- A read that nobody compared changes nothing.
if accepted and (kind ~= 'read' or decision == 'inside') then
  -- The mark only rises, and stays with the grant that brought it.
  if fencing ~= '' and (not highest or newer(fencing, highest)) then
    redis.call('HSET', KEYS[1], 'highest', fencing, 'grant', grant)
  end
  if kind == 'write' then
    redis.call('HSET', KEYS[1], 'write', write)
    if job ~= '' then
      redis.call('HINCRBY', KEYS[3], job, 1)
      if outbox == '1' then
        redis.call('RPUSH', KEYS[4], job)
      end
    end
  end
end
return {answer, highest or '', shown or ''}
