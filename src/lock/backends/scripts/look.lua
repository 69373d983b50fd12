#!lua flags=no-writes
-- Whose a vote is, without telling the owner token, and for how long yet.
-- KEYS: lock.
-- Returns {1} free, {0, ms left or -1, digest of the owner} taken.
local value = redis.call('GET', KEYS[1])
if not value then
  return {1}
end
local owner = string.match(value, '^(.*):%d*$') or value
return {0, redis.call('PTTL', KEYS[1]), redis.sha1hex(owner)}
