#!lua flags=allow-oom
-- Takes back the vote of an attempt that did not get its quorum, if it is still this owner's.
-- Nobody is woken: nobody has held the lock.
-- KEYS: lock. ARGV: owner token.
-- Returns 1 taken back, 0 nothing of ours.
local value = redis.call('GET', KEYS[1])
if not value or string.match(value, '^(.*):%d*$') ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
