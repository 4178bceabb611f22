import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { readConfig } from '../lib/config/config.ts'
import { prepareGeo } from '../lib/geo/open-geo.ts'
import { createProgress } from '../lib/geo/progress.ts'
import { checkOptions, readArguments, TEXT } from '../scripts/parts/options.ts'
import { run, UsageError } from '../scripts/parts/run.ts'
import { benchCluster } from './cluster/main.ts'
import { benchSums } from './cluster/sums.ts'
import { benchGrowth } from './growth.ts'
import { benchBatch, benchHttp, benchPeers, benchProxy } from './http.ts'
import { benchAudit } from './inside/audit.ts'
import { benchKeys } from './inside/keys.ts'
import { benchLookup } from './inside/lookup.ts'
import { benchPages } from './pages.ts'
import { machineLine } from './parts/machine.ts'
import type { BenchOptions } from './parts/options.ts'
import { benchRum } from './rum.ts'
import { benchSoak } from './soak/main.ts'
import { benchTail } from './tail/main.ts'
import { benchAsks, benchClose, benchNginx, benchOdd } from './ways.ts'

type Subject = readonly [does: string, bench: (options: BenchOptions) => Promise<void>]

const SUBJECTS: Readonly<Record<string, Subject>> = {
  http: ['compares Meridian to a bare Hono answer and nginx; the default', benchHttp],
  peers: ['compares Meridian on Node, Deno and Bun to nginx and maxmind', benchPeers],
  proxy: ['measures look-ups behind nginx, with and without POSTs among them', benchProxy],
  nginx: ['measures look-ups behind nginx, with and without kept connections', benchNginx],
  close: ['measures look-ups with a connection for each', benchClose],
  odd: ['measures look-ups that the fast path leaves to node:http', benchOdd],
  asks: ['measures look-ups by how one asks: fields, language, key and more', benchAsks],
  batch: ['measures batches of 1,000 addresses', benchBatch],
  growth: ['measures growing numbers of keys, connections and networks (12 minutes)', benchGrowth],
  lookup: ['measures look-ups without a server, next to other readers', benchLookup],
  keys: ['measures loading and finding keys, for several numbers of keys', benchKeys],
  audit: ['measures pages of the audit log of a user with 100,000 entries', benchAudit],
  rum: ['measures storing beacons and reading their summaries', benchRum],
  cluster: ['measures three servers on MERIDIAN_DATABASE_URL, an empty database', benchCluster],
  sums: ['measures summing up beacons in MERIDIAN_DATABASE_URL, an empty database', benchSums],
  pages: ['measures how soon pages of dashboard and operators are interactive', benchPages],
  tail: ['measures latencies of look-ups next to each other kind of work (6 minutes)', benchTail],
  soak: ['drives all parts at half of the capacity, and fails if one degrades', benchSoak],
}

const list = Object.entries(SUBJECTS).map(([name, [does]]) => `  ${name.padEnd(16)}${does}\n`)

const USAGE = `Usage: npm run --silent bench -- [SUBJECT] [options]
${list.join('')}Options:
  --rounds N        how often to drive each server or read each page; default: 5
  --seconds N       how long to drive a server in each round; default: 8
  --minutes N       how long the soak takes; default: 60
  --rate N          requests a second of the soak; default: half of the capacity
  --plot FILE.svg   where tail draws the latencies; default: nowhere
  --maxmind FOLDER  where the package maxmind is installed; default: the current folder
  --help            show this
Prints Markdown tables. Compare ratios only: absolute figures differ from machine to machine.
`

const COUNT = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,6}$/, 'must be from 1 to 9999999'),
  v.toNumber(),
)

const Options = v.strictObject({
  rate: v.optional(COUNT),
  rounds: v.optional(COUNT, '5'),
  seconds: v.optional(COUNT, '8'),
  minutes: v.optional(COUNT, '60'),
  plot: v.optional(v.string()),
  maxmind: v.optional(v.string(), '.'),
})

await run(async () => {
  const counts = { rounds: TEXT, seconds: TEXT, minutes: TEXT, rate: TEXT }
  const options = { ...counts, plot: TEXT, maxmind: TEXT }
  const { values, positionals } = readArguments({ options, allowPositionals: true }, USAGE)
  const { plot, maxmind: maxmindFolder, ...checked } = checkOptions(Options, values, USAGE)
  const [name = 'http', ...more] = positionals
  const [, bench] = (Object.hasOwn(SUBJECTS, name) && SUBJECTS[name]) || []
  if (bench === undefined || more.length > 0) {
    throw new UsageError(`Unknown benchmark "${positionals.join(' ')}"`, USAGE)
  }
  process.stdout.write(`Machine: ${machineLine()}\n`)
  await bench({ ...checked, plot, maxmindFolder, geoFolder: await prepareGeoFolder() })
})

async function prepareGeoFolder(): Promise<string> {
  const directory = join(readConfig(process.env).dataDir, 'geo')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  await prepareGeo({ directory, files: undefined, onProgress: createProgress(process.stderr) })
  return directory
}
