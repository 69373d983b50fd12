-- One attempt: decide, log, and if accepted, write. Both keys are read before either is changed,
-- so that an error of the server means that nothing was done.
-- KEYS: resource (highest, grant, write), log.
-- ARGV: who decides (inside, yes, no), once (0, 1), kind (write, seal), fencing token or '',
-- grant or '', write, the attempt as JSON.
-- Returns {1 if accepted or 0, highest fencing token before or ''}.
local decision, once, kind, fencing, grant, write, attempt = unpack(ARGV)
local highest, holder = unpack(redis.call('HMGET', KEYS[1], 'highest', 'grant'))
redis.call('LLEN', KEYS[2])
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

local accepted = decision == 'yes' or (decision == 'inside' and admits())
local line = {accepted and '1' or '0', kind, highest or '-', time[1], time[2], attempt}
redis.call('RPUSH', KEYS[2], table.concat(line, ' '))
if accepted then
  -- The mark only rises, and stays with the grant that brought it.
  if fencing ~= '' and (not highest or newer(fencing, highest)) then
    redis.call('HSET', KEYS[1], 'highest', fencing, 'grant', grant)
  end
  if kind == 'write' then
    redis.call('HSET', KEYS[1], 'write', write)
  end
end
return {accepted and 1 or 0, highest or ''}
