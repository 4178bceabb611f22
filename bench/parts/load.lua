-- Sends look-ups or beacons with wrk, and prints the result for load.ts. Arguments are NAME=VALUE:
--   addresses  a file, one address per line: each request uses the next one
--   prefix     the path in front of an address to look up
--   offset     number of addresses to skip at the start
--   keys       a file of API keys, from which each request draws one
--   pause      average pause of each connection between requests, in milliseconds
--   every      send every nth request as a POST of a batch
--   batch      addresses in each batch
--   beacons    a file of beacons: each request sends one, with the next address in X-Forwarded-For
--   sites      number of sites that the beacons come from
local options = { offset = 0, pause = 0, every = 0, batch = 1, sites = 0 }
local addresses, keys, at, sent, ending
local threads = {}
-- wrk reads these from each thread at the end.
beacons, refused, prepared = false, 0, 0

local function read(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  for _, text in ipairs(args) do
    local name, value = text:match('^(%w+)=(.*)$')
    options[name] = tonumber(value) or value
  end
  addresses, at, sent = read(options.addresses), options.offset, 0
  if options.keys then keys = read(options.keys) end
  if options.beacons then beacons = read(options.beacons) end
  math.randomseed(options.offset + 1)
  -- What follows the address in each look-up. Formatting each request would slow the load down.
  ending = wrk.format('GET', ''):sub(#'GET ' + 1)
  -- wrk pauses only if a global `delay` exists, and reads answers only if `response` exists.
  if options.pause > 0 then delay = drawPause end
  if options.every > 0 then response = countRefused end
  prepared = os.clock()
end

function request()
  at, sent = at % #addresses + 1, sent + 1
  if beacons then return beacon() end
  if keys then wrk.headers['X-API-Key'] = keys[math.random(#keys)] end
  if options.every > 0 and sent % options.every == 0 then return batch() end
  if keys then return wrk.format('GET', options.prefix .. addresses[at]) end
  return 'GET ' .. options.prefix .. addresses[at] .. ending
end

function beacon()
  local origin = 'https://bench.example'
  if options.sites > 0 then
    origin = 'https://site-' .. math.random(options.sites) - 1 .. '.example'
  end
  local headers = {
    ['Origin'] = origin,
    ['Content-Type'] = 'text/plain;charset=UTF-8',
    ['X-Forwarded-For'] = addresses[at],
  }
  return wrk.format('POST', '/v1/telemetry/rum', headers, beacons[sent % #beacons + 1])
end

function batch()
  if at + options.batch - 1 > #addresses then at = 1 end
  local last = at + options.batch - 1
  local body = '{"ips":["' .. table.concat(addresses, '","', at, last) .. '"]}'
  at = last
  return wrk.format('POST', options.prefix .. 'batch', nil, body)
end

-- An address without a location is correctly answered with 404.
function countRefused(status)
  if status ~= 200 and status ~= 404 then refused = refused + 1 end
end

-- Whole milliseconds, exponentially distributed like the gaps between independent requests.
function drawPause()
  return math.floor(-options.pause * math.log(1 - math.random()) + math.random())
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout
  for _, thread in ipairs(threads) do
    failed = failed + thread:get('refused')
    if thread:get('beacons') then failed = failed + errors.status end
  end
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"cpu":%.6f,"p50":%.3f,"p99":%.3f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, os.clock() - threads[#threads]:get('prepared'),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, failed
  ))
end
