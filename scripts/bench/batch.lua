-- Sends batches of 1,000 addresses of a file in turn.
local path, batches, at

function init(args)
  path, batches, at = args[2], {}, 0
  local batch = {}
  for line in io.lines(args[1]) do
    batch[#batch + 1] = '"' .. line .. '"'
    if #batch == 1000 then
      batches[#batches + 1] = '{"ips":[' .. table.concat(batch, ',') .. ']}'
      batch = {}
    end
  end
end

function request()
  at = at % #batches + 1
  return wrk.format('POST', path, nil, batches[at])
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout
  ))
end
