#!lua flags=allow-oom
-- Writes the fencing token that a quorum agrees on to a server that had counted less far, if its
-- vote is still this owner's. The lease stays as it is; a counter is never set back.
-- KEYS: lock, fencing counter. ARGV: owner token, fencing token.
-- Returns 1 written, 0 nothing of ours.
local value = redis.call('GET', KEYS[1])
if not value or string.match(value, '^(.*):%d*$') ~= ARGV[1] then
  return 0
end
local ends = redis.call('PEXPIRETIME', KEYS[1])
if ends < 0 then
  return 0
end
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[2])
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PXAT', ends)
return 1
