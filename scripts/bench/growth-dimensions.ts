import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDb } from '../../lib/db/open.ts'
import { createRandom } from '../random.ts'
import { writeDataSet } from './data-set.ts'
import { fillKeys } from './fill-keys.ts'
import { startMeridian, type Target } from './servers.ts'

/** Something that grows while all else stays. */
export interface Dimension {
  readonly title: string
  readonly sizes: readonly number[]
  readonly quickSizes: readonly number[]
  /** Starts a server of that size, with data of its own in `folder`. */
  readonly start: (size: number, folder: string, geoFolder: string) => Promise<GrownServer>
}

export interface GrownServer {
  /** Its size as it is shown. */
  readonly size: number
  readonly target: Target
  /** File of the keys to ask with in turn. */
  readonly keyFile: string
  readonly connections: number
}

const CONNECTIONS = 64
const PICKED_KEYS = 1_000_000

export const DIMENSIONS: readonly Dimension[] = [
  {
    title: 'keys',
    sizes: [1, 1_000, 100_000, 1_000_000],
    quickSizes: [1, 1_000, 100_000],
    start: startWithKeys,
  },
  {
    title: 'connections',
    sizes: [1, 10, 100, 1_000],
    quickSizes: [1, 100, 1_000],
    start: startForConnections,
  },
  {
    title: 'MB of data',
    // Networks, which make files of about 5, 15, 50 and 150 MB.
    sizes: [75_000, 270_000, 1_130_000, 3_600_000],
    quickSizes: [75_000, 1_130_000],
    start: startWithData,
  },
]

/** All other keys but the one that the server is started with are put into its database before. */
async function startWithKeys(
  size: number,
  folder: string,
  geoFolder: string,
): Promise<GrownServer> {
  const db = openDb(join(folder, 'app.db'))
  const texts = fillKeys(db, size - 1)
  db.$client.close()
  const target = await startMeridian(folder, geoFolder)
  // The others are for pages, and want an Origin.
  const secret = texts.filter((text) => text.startsWith('sk_'))
  return {
    size,
    target,
    keyFile: writeKeys(folder, [keyOf(target), ...secret]),
    connections: CONNECTIONS,
  }
}

async function startForConnections(
  size: number,
  folder: string,
  geoFolder: string,
): Promise<GrownServer> {
  // A tenth of them may come from one address.
  const settings = { MERIDIAN_MAX_CONNECTIONS: '20000' }
  const target = await startMeridian(folder, geoFolder, settings)
  return { size, target, keyFile: writeKeys(folder, [keyOf(target)]), connections: size }
}

async function startWithData(networks: number, folder: string): Promise<GrownServer> {
  const file = join(folder, 'data-set.mmdb')
  writeDataSet(file, networks)
  const target = await startMeridian(folder, join(folder, 'own-geo'), { MERIDIAN_GEO: file })
  const size = statSync(file).size / 1e6
  return { size, target, keyFile: writeKeys(folder, [keyOf(target)]), connections: CONNECTIONS }
}

function keyOf({ headers }: Target): string {
  return headers['X-API-Key'] ?? ''
}

/** Writes random ones of the keys, or the only one. */
function writeKeys(folder: string, keys: readonly string[]): string {
  const random = createRandom(5)
  const count = keys.length === 1 ? 1 : PICKED_KEYS
  const picked = Array.from({ length: count }, () => keys[Math.floor(random() * keys.length)])
  const path = join(folder, 'keys.txt')
  writeFileSync(path, `${picked.join('\n')}\n`)
  return path
}
