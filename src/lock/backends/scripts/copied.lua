#!lua
-- A mark that is written after the grant, if the lock is still this owner's here: whoever has it has
-- the grant. Without it a connection that wrote nothing would be told that everybody has everything.
-- KEYS: lock, mark. ARGV: owner token, life of the mark in ms.
-- Returns 1 written, 0 nothing of ours.
local value = redis.call('GET', KEYS[1])
if not value or string.match(value, '^(.*):%d*$') ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
return 1
