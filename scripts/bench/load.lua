-- Asks for the addresses of a file in turn, from a given line on.
dofile('report.lua')

local prefix, addresses, at

function init(args)
  prefix, at = args[2], tonumber(args[3])
  addresses = {}
  for line in io.lines(args[1]) do addresses[#addresses + 1] = line end
end

function request()
  at = at % #addresses + 1
  return wrk.format('GET', prefix .. addresses[at])
end

function done(summary, latency)
  report(summary, latency, 0)
end
