#!lua flags=allow-oom
-- Extends the lease if the lock is this owner's. Never creates it again.
-- KEYS: lock. ARGV: owner token, lease in ms, fencing token or ''.
-- Returns 1 renewed, 0 absent, -1 somebody else's.
local value = redis.call('GET', KEYS[1])
if not value then
  return 0 -- gone, and it stays gone
end
if string.match(value, '^(.*):%d*$') ~= ARGV[1] then -- not this owner's to renew
  return -1
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
