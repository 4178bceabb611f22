-- Sends one beacon after the other, each from another address through a trusted proxy.
dofile('report.lua')

local bodies = {}
local path

function init(args)
  path = args[1]
  math.randomseed(1)
  for at = 1, 1000 do
    bodies[at] = string.format(
      '{"path":"/product/%d","deviceType":"%s","connectionType":"4g","metrics":' ..
        '{"lcp":%d,"inp":%d,"cls":%.4f,"ttfb":%d,"dns":%d,"tls":%d,"request":%d,"response":%d}}',
      at, ({ 'mobile', 'desktop', 'tablet' })[at % 3 + 1], math.random(500, 5000),
      8 * math.random(1, 60), math.random() / 3, math.random(50, 1500), math.random(0, 40),
      math.random(0, 60), math.random(20, 400), math.random(1, 90)
    )
  end
end

function request()
  local octet = function() return math.random(1, 223) end
  local from = string.format('%d.%d.%d.%d', octet(), octet(), octet(), octet())
  local headers = {
    ['Origin'] = 'https://bench.example',
    ['Content-Type'] = 'text/plain;charset=UTF-8',
    ['X-Forwarded-For'] = from,
  }
  return wrk.format('POST', path, headers, bodies[math.random(#bodies)])
end

function done(summary, latency)
  report(summary, latency, summary.errors.status)
end
