-- Asks for the addresses of a file in turn, from a given line on.
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
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
