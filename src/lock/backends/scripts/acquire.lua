#!lua
-- One attempt. Accepts its own owner token, so that a resent command gets the same grant and the
-- same fencing token; the lease is not refreshed by a resend.
-- KEYS: lock, fencing counter, wake-up list. ARGV: owner token, lease in ms, and where a failover
-- can lose the counter: the number that this epoch's fencing tokens are above.
-- Returns {1, fencing token} if granted, {0, ms left or -1} if busy.
local value = redis.call('GET', KEYS[1])
if value then
  local owner, fencing = string.match(value, '^(.*):(%d*)$')
  if owner == ARGV[1] then
    return {1, tonumber(fencing)}
  end
  return {0, redis.call('PTTL', KEYS[1])}
end
local floor = ARGV[3] and tonumber(ARGV[3])
if floor then
  local last = tonumber(redis.call('GET', KEYS[2]) or '0')
  -- Each epoch has 10^10 numbers.
  if last + 1 >= floor + 10000000000 then
    return redis.error_reply('STALEEPOCH fencing tokens of a later epoch have been given')
  end
  if last < floor then
    redis.call('SET', KEYS[2], ARGV[3])
  end
end
-- Minted before the lock is set: an error here leaves no lock behind.
local fencing = redis.call('INCR', KEYS[2])
if fencing and fencing >= 9007199254740992 then
  return redis.error_reply('ERR fencing tokens are used up: numbers end at 2^53')
end
-- '%.0f': Lua would write a large number as 1e+14.
local written = fencing and string.format('%.0f', fencing) or ''
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. written, 'PX', ARGV[2])
-- Whoever was to be woken by an earlier release would come in vain now.
redis.call('DEL', KEYS[3])
return {1, fencing}
