-- Creates plants. Arguments: "rising" or "random", then the first id, or the seed.
-- No response() here: wrk itself counts answers of 400 and more, and would otherwise copy every answer into Lua.

local head, tail, nextId

local function rising(start)
  local id = start - 1
  return function()
    id = id + 1
    return string.format("%d", id)
  end
end

-- A number of Lua is exact to 2^53 only, so an id is written in two halves: 10 to 18 digits.
local function random(seed)
  math.randomseed(seed)
  return function()
    return string.format("%d%09d", math.random(1, 999999999), math.random(0, 999999999))
  end
end

function init(args)
  local makers = { rising = rising, random = random }
  nextId = makers[args[1]](tonumber(args[2]))
  head = table.concat({
    "POST /plants HTTP/1.1",
    "Host: " .. wrk.headers["Host"],
    "Content-Type: application/json",
    "Authorization: Bearer " .. os.getenv("BENCH_TOKEN"),
    "Content-Length: ",
  }, "\r\n")
  tail = ',"name":"Monstera deliciosa","tag":"tropical"}'
end

function request()
  local body = '{"id":' .. nextId() .. tail
  return head .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.timeout, errors.status
  ))
end
