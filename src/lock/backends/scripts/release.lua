#!lua flags=allow-oom
-- Deletes the lock if it is this owner's, and leaves one wake-up for one waiter. The server hands
-- it to whoever has waited longest; if nobody waits it goes with its own lease.
-- KEYS: lock, wake-up list. ARGV: owner token, life of the wake-up in ms.
-- Returns 1 released, 0 nothing of ours.
local value = redis.call('GET', KEYS[1])
if not value then
  return 0
end
if string.match(value, '^(.*):%d*$') ~= ARGV[1] then -- not this owner's to release
  return 0
end
redis.call('DEL', KEYS[1])
-- The lock is gone; whatever is wrong with the wake-up must not change that answer.
if redis.pcall('RPUSH', KEYS[2], '1') == 1 then
  redis.pcall('PEXPIRE', KEYS[2], ARGV[2])
end
return 1
