import { SECOND_MS } from '../../lib/parts/durations.ts'
import { memoryMegabytes } from '../parts/machine.ts'

const INTERVAL_MS = 5 * SECOND_MS

/** Reads the memory of a server every five seconds. `metricsUrl` is on its admin port. */
export function startWatch(pid: number, metricsUrl: string) {
  let samples: { privateMb: number; mappedMb: number; heapMb: number }[] = []
  const sample = async () => {
    const metrics = await (await fetch(metricsUrl)).text()
    const heapBytes = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]
    samples.push({
      privateMb: memoryMegabytes(pid, 'RssAnon'),
      mappedMb: memoryMegabytes(pid, 'RssFile'),
      heapMb: Number(heapBytes) / 2 ** 20,
    })
  }
  // A sample that cannot be read is left out.
  const timer = setInterval(() => void sample().catch(() => {}), INTERVAL_MS)
  return {
    /** Returns the worst values since the last call. */
    async takeWorst() {
      await sample()
      const taken = samples
      samples = []
      return {
        'private MB': Math.max(...taken.map(({ privateMb }) => privateMb)),
        'mapped MB': Math.max(...taken.map(({ mappedMb }) => mappedMb)),
        // The lowest, because that is the use right after a collection.
        'heap in use, MB': Math.min(...taken.map(({ heapMb }) => heapMb)),
      }
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
