import { statSync } from 'node:fs'
import { join } from 'node:path'
import { memoryMegabytes } from '../machine.ts'

/** What a server holds, at its worst since the last look. */
export interface Held {
  /** Memory of its own, and of mapped files. */
  readonly anonMegabytes: number
  readonly fileMegabytes: number
  /** What V8 has in use at its lowest: soon after a collection. */
  readonly heapMegabytes: number
  readonly walMegabytes: number
  readonly databaseMegabytes: number
  /** 99th percentile of how late the event loop was. */
  readonly lagMs: number
}

export interface Watched {
  readonly pid: number
  readonly folder: string
  /** Of the port for operators. */
  readonly metricsUrl: string
}

export interface Watch extends Disposable {
  takeHeld(): Promise<Held>
}

const LOOK_MS = 5_000

/** Looks every five seconds. */
export function startWatch(watched: Watched): Watch {
  let looks: Held[] = []
  const lookAgain = async () => {
    looks.push(await look(watched))
  }
  // What cannot be read is missing in the table.
  const timer = setInterval(() => void lookAgain().catch(() => {}), LOOK_MS)
  return {
    async takeHeld() {
      await lookAgain()
      const taken = looks
      looks = []
      const most = (name: keyof Held) => Math.max(...taken.map((held) => held[name]))
      return {
        anonMegabytes: most('anonMegabytes'),
        fileMegabytes: most('fileMegabytes'),
        heapMegabytes: Math.min(...taken.map(({ heapMegabytes }) => heapMegabytes)),
        walMegabytes: most('walMegabytes'),
        databaseMegabytes: most('databaseMegabytes'),
        lagMs: most('lagMs'),
      }
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function look({ pid, folder, metricsUrl }: Watched): Promise<Held> {
  const metrics = await (await fetch(metricsUrl)).text()
  const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1])
  return {
    anonMegabytes: memoryMegabytes(pid, 'RssAnon'),
    fileMegabytes: memoryMegabytes(pid, 'RssFile'),
    heapMegabytes: metric('nodejs_heap_size_used_bytes') / 2 ** 20,
    walMegabytes: fileMegabytes(join(folder, 'app.db-wal')),
    databaseMegabytes: fileMegabytes(join(folder, 'app.db')),
    lagMs: metric('nodejs_eventloop_lag_p99_seconds') * 1_000,
  }
}

function fileMegabytes(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20
}
