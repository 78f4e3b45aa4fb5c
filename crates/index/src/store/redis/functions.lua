-- What happens inside of the server. Every function gets all keys it touches, all of one slot, and does work that the caller bounds.
-- `open` is `open` or `closed`, and not there once the collection has been dropped or moved to other buckets.

local function refused(open)
  local state = redis.call('GET', open)
  if not state then
    return redis.error_reply('BENZERGONE the collection is not here any more')
  end
  if state ~= 'open' then
    return redis.error_reply('BENZERCLOSED the collection is being moved to other buckets')
  end
end

local function add(meta, field, amount)
  if amount ~= 0 then
    redis.call('HINCRBY', meta, field, amount)
  end
end

-- Takes the record of a number out; the bytes of record and document.
local function erase(keys, entry)
  local number = string.sub(entry, 1, 4)
  local record = redis.call('HSTRLEN', keys[3], number)
  local document = redis.call('HSTRLEN', keys[4], number)
  redis.call('HDEL', keys[3], number)
  if document > 0 then redis.call('HDEL', keys[4], number) end
  if #entry > 4 then redis.call('ZREM', keys[5], number) end
  return record, document
end

-- keys: open, meta, records, documents, expiry, id buckets
-- args: how many numbers to reserve, how many bytes of postings were appended, then of each record: place of its id bucket, id, number, time of expiry or '', record, document or ''
local function put(keys, args)
  local no = refused(keys[1])
  if no then return no end
  local held, entries, taken = redis.call('HMGET', keys[2], 'fence', 'next'), {}, {}
  local fence, next = tonumber(held[1] or '0'), tonumber(held[2] or '0')
  for i = 3, #args, 6 do
    local entry, number = redis.call('HGET', keys[5 + args[i]], args[i + 1]), args[i + 2]
    entries[i] = entry
    if not entry or string.sub(entry, 1, 4) ~= number then
      local count = struct.unpack('>I4', number)
      -- A server that has lost its last writes gives numbers out again.
      if count <= fence or count > next or taken[count] or redis.call('HEXISTS', keys[3], number) == 1 then
        return redis.error_reply('BENZERSTALE the number is not free any more')
      end
      taken[count] = true
    end
  end
  local documents, dead, record_bytes, document_bytes = 0, 0, 0, 0
  for i = 3, #args, 6 do
    local bucket, id, number, expires, record, document =
      keys[5 + args[i]], args[i + 1], args[i + 2], args[i + 3], args[i + 4], args[i + 5]
    local old = entries[i]
    if old then
      local r, d = erase(keys, old)
      record_bytes, document_bytes = record_bytes - r, document_bytes - d
      if string.sub(old, 1, 4) ~= number then dead = dead + 1 end
    else
      documents = documents + 1
    end
    redis.call('HSET', bucket, id, expires == '' and number or number .. 'x')
    redis.call('HSET', keys[3], number, record)
    if document ~= '' then redis.call('HSET', keys[4], number, document) end
    if expires ~= '' then redis.call('ZADD', keys[5], expires, number) end
    record_bytes, document_bytes = record_bytes + #record, document_bytes + #document
  end
  add(keys[2], 'documents', documents)
  add(keys[2], 'dead', dead)
  add(keys[2], 'record_bytes', record_bytes)
  add(keys[2], 'document_bytes', document_bytes)
  add(keys[2], 'posting_bytes', tonumber(args[2]))
  if args[1] == '0' then return 0 end
  return redis.call('HINCRBY', keys[2], 'next', args[1])
end

-- keys: as of put; args: of each document: place of its id bucket, id, the number that it must have or ''
local function remove(keys, args)
  local no = refused(keys[1])
  if no then return no end
  local removed, record_bytes, document_bytes = 0, 0, 0
  for i = 1, #args, 3 do
    local bucket = keys[5 + args[i]]
    local entry = redis.call('HGET', bucket, args[i + 1])
    if entry and (args[i + 2] == '' or string.sub(entry, 1, 4) == args[i + 2]) then
      redis.call('HDEL', bucket, args[i + 1])
      local r, d = erase(keys, entry)
      removed, record_bytes, document_bytes = removed + 1, record_bytes - r, document_bytes - d
    end
  end
  add(keys[2], 'documents', -removed)
  add(keys[2], 'dead', removed)
  add(keys[2], 'record_bytes', record_bytes)
  add(keys[2], 'document_bytes', document_bytes)
  return removed
end

-- keys: open, records, documents, id buckets; args: '1' if documents are wanted; of each id: id, number, record or '', document or ''
local function scan(keys, args)
  if not redis.call('GET', keys[1]) then
    return redis.error_reply('BENZERGONE the collection is not here any more')
  end
  local found = {}
  for i = 4, #keys do
    local entries = redis.call('HGETALL', keys[i])
    for j = 1, #entries, 2 do
      local number = string.sub(entries[j + 1], 1, 4)
      local n = #found
      found[n + 1], found[n + 2] = entries[j], number
      found[n + 3] = redis.call('HGET', keys[2], number) or ''
      found[n + 4] = args[1] == '1' and redis.call('HGET', keys[3], number) or ''
    end
  end
  return found
end

-- keys: open, id buckets; all numbers, four bytes each
local function numbers(keys)
  if not redis.call('GET', keys[1]) then
    return redis.error_reply('BENZERGONE the collection is not here any more')
  end
  local found = {}
  for i = 2, #keys do
    for _, entry in ipairs(redis.call('HVALS', keys[i])) do
      found[#found + 1] = string.sub(entry, 1, 4)
    end
  end
  return table.concat(found)
end

-- keys: open, meta. From here on no record can come with a number that was given out before, unless it is there already.
local function fence(keys)
  local no = refused(keys[1])
  if no then return no end
  local held = redis.call('HMGET', keys[2], 'next', 'dead')
  redis.call('HSET', keys[2], 'fence', held[1] or '0')
  return { tonumber(held[1] or '0'), tonumber(held[2] or '0') }
end

-- keys: open, blocks; args: of each block: the bytes that were read, their SHA-1, what they become. What was appended since then stays.
local function compact(keys, args)
  local no = refused(keys[1])
  if no then return no end
  local replaced = 0
  for i = 2, #keys do
    local at = 3 * (i - 2)
    local read, sum, new = tonumber(args[at + 1]), args[at + 2], args[at + 3]
    local block = redis.call('GET', keys[i]) or ''
    if #block >= read and redis.sha1hex(string.sub(block, 1, read)) == sum then
      block = new .. string.sub(block, read + 1)
      if block == '' then redis.call('DEL', keys[i]) else redis.call('SET', keys[i], block) end
      replaced = replaced + 1
    end
  end
  return replaced
end

-- keys: open, meta; args: how many removed records a compaction has cleaned up after, and the bytes of postings that it has left
local function settle(keys, args)
  local no = refused(keys[1])
  if no then return no end
  local dead = tonumber(redis.call('HGET', keys[2], 'dead') or '0')
  redis.call('HSET', keys[2], 'dead', math.max(0, dead - tonumber(args[1])), 'posting_bytes', args[2])
  return 1
end

-- keys: open, meta; args: how many documents were counted, and how many there are. Where the count has changed since then, or was put right before, it stays.
local function recount(keys, args)
  local no = refused(keys[1])
  if no then return no end
  if (redis.call('HGET', keys[2], 'documents') or '0') ~= args[1] then return 0 end
  redis.call('HSET', keys[2], 'documents', args[2])
  return 1
end

-- keys: open, meta; args: a number that was given out, whatever the count says
local function advance(keys, args)
  local no = refused(keys[1])
  if no then return no end
  if tonumber(redis.call('HGET', keys[2], 'next') or '0') < tonumber(args[1]) then
    redis.call('HSET', keys[2], 'next', args[1])
  end
  return 1
end

-- keys: open; args: open or closed
local function turn(keys, args)
  if not redis.call('GET', keys[1]) then
    return redis.error_reply('BENZERGONE the collection is not here any more')
  end
  redis.call('SET', keys[1], args[1])
  return 1
end

-- keys: collections, leftovers; args: name, what stands there now or '', what will stand there or '', uid that comes, uid that goes and what it was.
-- The one that comes must be among the leftovers still, the one that goes becomes one.
local function publish(keys, args)
  local now = redis.call('HGET', keys[1], args[1]) or ''
  -- Sent again, because the answer was lost.
  if args[4] ~= '' and now == args[3] then return 1 end
  if now ~= args[2] then return 0 end
  if args[4] ~= '' then
    if redis.call('HDEL', keys[2], args[4]) == 0 then return 0 end
    redis.call('HSET', keys[1], args[1], args[3])
  else
    redis.call('HDEL', keys[1], args[1])
  end
  if args[5] ~= '' then redis.call('HSET', keys[2], args[5], args[6]) end
  return 1
end

local reads, frees = { 'no-writes' }, { 'allow-oom' }
redis.register_function('PREFIX_put', put)
redis.register_function{ function_name = 'PREFIX_remove', callback = remove, flags = frees }
redis.register_function{ function_name = 'PREFIX_fence', callback = fence, flags = frees }
redis.register_function{ function_name = 'PREFIX_compact', callback = compact, flags = frees }
redis.register_function{ function_name = 'PREFIX_settle', callback = settle, flags = frees }
redis.register_function{ function_name = 'PREFIX_recount', callback = recount, flags = frees }
redis.register_function{ function_name = 'PREFIX_advance', callback = advance, flags = frees }
redis.register_function{ function_name = 'PREFIX_turn', callback = turn, flags = frees }
redis.register_function{ function_name = 'PREFIX_publish', callback = publish, flags = frees }
redis.register_function{ function_name = 'PREFIX_scan', callback = scan, flags = reads }
redis.register_function{ function_name = 'PREFIX_numbers', callback = numbers, flags = reads }
