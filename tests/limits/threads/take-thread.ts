import { parentPort, workerData } from 'node:worker_threads'
import { createSharedBuckets } from '../../../lib/limits/buckets/shared-buckets.ts'
import { SharedBucket, SharedRows } from '../../../lib/limits/buckets/shared-rows.ts'
import { countBelowCap } from '../../../lib/limits/counter.ts'

/* Takes from one bucket, and counts in one row, as often as it is told. Reports how often that was allowed. */

const { memory, bucketRow, counterRow, times, capacity } = workerData
const rows = new SharedRows(memory)
const bucket = new SharedBucket(rows, bucketRow)
const buckets = createSharedBuckets(null)
const rate = { capacity, windowMs: 60_000 }
let taken = 0
let counted = 0
for (let turn = 0; turn < times; turn++) {
  // All at the same time, so that nothing refills.
  if (buckets.take(bucket, rate, 0, 1)?.allowed === true) taken += 1
  if (countBelowCap(rows, counterRow)) counted += 1
}
parentPort?.postMessage({ taken, counted })
