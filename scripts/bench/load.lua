-- Asks for the addresses of a file in turn, from a given line on. If told so, with the keys of another
-- file in turn, and each connection after a pause of so many milliseconds on average.
dofile('report.lua')

local prefix, addresses, keys, pause, at

local function read(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

function init(args)
  prefix, at = args[2], tonumber(args[3])
  addresses = read(args[1])
  if args[4] then keys = read(args[4]) end
  pause = tonumber(args[5] or 0)
  -- wrk asks for pauses where this function is.
  if pause > 0 then delay = drawPause end
end

function request()
  at = at % #addresses + 1
  if keys then wrk.headers['X-API-Key'] = keys[at % #keys + 1] end
  return wrk.format('GET', prefix .. addresses[at])
end

-- Exponentially distributed, so that requests come as if by chance; whole milliseconds.
function drawPause()
  return math.floor(-pause * math.log(1 - math.random()) + math.random())
end

function done(summary, latency)
  report(summary, latency, 0)
end
