-- Creates plants, or reads them. Arguments: "rising" and the first id, "random" and the seed, or "read" and the number
-- of plants; for creates, also a file with what follows the id in the JSON of a plant, one a line, used in turns.
-- No response() here: it would copy every response into Lua. wrk itself counts statuses of 400 and more.

local head, nextId, makeRequest
local tails, at = {}, 0

local function rising(start)
  local id = start - 1
  return function()
    id = id + 1
    return string.format("%d", id)
  end
end

-- Lua numbers are exact only to 2^53, so an id is written in two halves: 10 to 18 digits.
local function random(seed)
  math.randomseed(seed)
  return function()
    return string.format("%d%09d", math.random(1, 999999999), math.random(0, 999999999))
  end
end

local function among(count)
  return function()
    return string.format("%d", math.random(1, count))
  end
end

local function create()
  at = at % #tails + 1
  local body = '{"id":' .. nextId() .. tails[at]
  return head .. #body .. "\r\n\r\n" .. body
end

local function read()
  return "GET /plants/" .. nextId() .. head
end

function init(args)
  local makers = { rising = rising, random = random, read = among }
  nextId = makers[args[1]](tonumber(args[2]))
  local usual = " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\nAuthorization: Bearer " .. os.getenv("BENCH_TOKEN") .. "\r\n"
  if args[1] == "read" then
    head = usual .. "\r\n"
    makeRequest = read
  else
    head = "POST /plants" .. usual .. "Content-Type: application/json\r\nContent-Length: "
    for line in io.lines(args[3]) do tails[#tails + 1] = line end
    makeRequest = create
  end
end

function request()
  return makeRequest()
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.timeout, errors.status
  ))
end
