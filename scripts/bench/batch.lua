-- Sends batches of 1,000 addresses of a file in turn.
dofile('report.lua')

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
  report(summary, latency, summary.errors.status)
end
