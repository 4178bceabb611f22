import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig } from '../../lib/config.ts'
import { prepareGeo } from '../../lib/geo/open-geo.ts'
import { PREPARED } from '../../lib/geo/prepare.ts'
import { createProgress } from '../../lib/geo/progress.ts'
import { run } from '../run.ts'
import { benchAudit } from './audit.ts'
import { benchBatch } from './batch.ts'
import { benchHttp } from './http.ts'
import { benchKeys } from './keys.ts'
import { benchLimits } from './limits.ts'
import { benchLookup } from './lookup.ts'
import { machineLine, missingLine } from './machine.ts'
import { benchRum } from './rum.ts'
import { benchRumMemory } from './rum-memory.ts'
import { benchSoak } from './soak/soak.ts'
import { benchWatching } from './watching.ts'

const USAGE = `Usage: npm run --silent bench -- [lookup|batch|keys|limits|watching|audit|rum|rum-memory|soak] [options]
  (none)        drive Meridian, a bare Hono answer and nginx with ngx_http_geoip2 over HTTP
  lookup        measure look-ups by themselves, next to other readers of the same file
  batch         measure look-ups in batches of 1,000 over HTTP
  keys          measure loading and finding keys, by their number
  limits        measure what limiting and counting add to a request
  watching      measure what metrics and traces add to a request
  audit         measure pages of the audit log of a user with 100,000 entries
  rum           measure storing beacons over HTTP, and reading what they sum up to
  rum-memory    measure what memory is held while beacons are stored without a break
  soak          drive all parts together at half of what the server can, and watch it
  --rounds N    how often each server is driven, or each page read; default: 5
  --seconds N   how long each time; default: 8
  --beacons N   how many are sent for rum-memory; default: 5000000
  --minutes N   how long for soak; default: 60
  --help        show this
Prints Markdown tables. Take the ratios: absolute figures differ from machine to machine.
`

interface BenchOptions {
  readonly rounds: number
  readonly seconds: number
  readonly beacons: number
  readonly minutes: number
}

type Bench = (options: BenchOptions) => Promise<void>

const BENCHES: Readonly<Record<string, Bench>> = {
  http: async (options) => benchHttp({ ...options, geoFolder: await prepareGeoFolder(), print }),
  lookup: async () =>
    print(`\n${await benchLookup(join(await prepareGeoFolder(), PREPARED.maxmindCity))}`),
  batch: async (options) => benchBatch({ ...options, geoFolder: await prepareGeoFolder(), print }),
  keys: async () => print(`\n${await benchKeys()}`),
  limits: async () => print(`\n${await benchLimits()}`),
  watching: async () => print(`\n${benchWatching()}`),
  audit: async ({ rounds }) => print(`\n${await benchAudit(rounds)}`),
  rum: async (options) => benchRum({ ...options, geoFolder: await prepareGeoFolder(), print }),
  'rum-memory': async ({ beacons }) =>
    print(await benchRumMemory({ beacons, geoFolder: await prepareGeoFolder() })),
  soak: async ({ minutes }) => benchSoak({ minutes, geoFolder: await prepareGeoFolder(), print }),
}

await run(async () => {
  const { help, measure, ...options } = readOptions(process.argv.slice(2))
  if (help) print(USAGE)
  else await bench(options, measure)
})

function readOptions(args: string[]) {
  const number = (fallback: string) => ({ type: 'string', default: fallback }) as const
  const options = {
    rounds: number('5'),
    seconds: number('8'),
    beacons: number('5000000'),
    minutes: number('60'),
    help: { type: 'boolean', default: false },
  } as const
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const [subject = 'http', ...more] = positionals
    const measure = Object.hasOwn(BENCHES, subject) ? BENCHES[subject] : undefined
    if (measure === undefined || more.length > 0) {
      throw new Error(`There is no benchmark "${positionals.join(' ')}"`)
    }
    const { help, rounds, seconds, beacons, minutes } = values
    return {
      help,
      measure,
      rounds: toCount('--rounds', rounds),
      seconds: toCount('--seconds', seconds),
      beacons: toCount('--beacons', beacons),
      minutes: toCount('--minutes', minutes),
    }
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function toCount(name: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new Error(`${name} must be a number from 1 to 9999999, got "${text}"`)
}

async function bench(options: BenchOptions, measure: Bench): Promise<void> {
  print(`Machine: ${machineLine()}\n`)
  if (missingLine() !== '') print(`${missingLine()}\n`)
  await measure(options)
}

async function prepareGeoFolder(): Promise<string> {
  const { dataDir } = readConfig(process.env)
  const directory = join(dataDir, 'geo')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const onProgress = createProgress(process.stderr)
  await prepareGeo({ directory, files: undefined, onProgress })
  return directory
}

function print(text: string): void {
  process.stdout.write(text)
}
