import { parentPort, workerData } from 'node:worker_threads'
import { createThreadBuckets } from '../../../lib/limits/buckets/thread-buckets.ts'
import { ThreadBucket, ThreadRows } from '../../../lib/limits/buckets/thread-rows.ts'
import { countBelowCap } from '../../../lib/limits/counter.ts'

/* Takes from one bucket, and counts in one row, as often as it is told. Reports how often that was allowed. */

const { memory, bucketRow, counterRow, times, capacity } = workerData
const rows = new ThreadRows(memory)
const bucket = new ThreadBucket(rows, bucketRow)
const buckets = createThreadBuckets(null)
const rate = { capacity, windowMs: 60_000 }
let taken = 0
let counted = 0
for (let time = 0; time < times; time++) {
  // All at the same time, so that nothing refills.
  if (buckets.take(bucket, rate, 0, 1)?.allowed === true) taken += 1
  if (countBelowCap(rows, counterRow)) counted += 1
}
parentPort?.postMessage({ taken, counted })
