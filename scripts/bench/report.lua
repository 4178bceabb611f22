-- Tells load.ts of a run. `refused`: answered requests that count as failed all the same.
function report(summary, latency, refused)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    refused + errors.connect + errors.read + errors.write + errors.timeout
  ))
end
