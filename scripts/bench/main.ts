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
import { benchGrowth } from './growth.ts'
import { benchHttp } from './http.ts'
import { benchKeys } from './keys.ts'
import { benchLimits } from './limits.ts'
import { benchLookup } from './lookup.ts'
import { machineLine, missingLine } from './machine.ts'
import { benchPages } from './pages.ts'
import { benchPeers } from './peers.ts'
import { benchRum } from './rum.ts'
import { benchRumMemory } from './rum-memory.ts'
import { benchSoak } from './soak/soak.ts'
import { benchWatching } from './watching.ts'

const USAGE = `Usage: npm run --silent bench -- [SUBJECT] [options]
  (none)        drive Meridian, a bare Hono answer and nginx with ngx_http_geoip2 over HTTP
  lookup        measure look-ups by themselves, next to other readers of the same file
  batch         measure look-ups in batches of 1,000 over HTTP
  keys          measure loading and finding keys, by their number
  growth        measure latency, processor time and memory with up to 1,000,000 keys, 1,000
                connections and 150 MB of data, and write a plot; takes about 12 minutes
  peers         drive Meridian on Node, Deno and Bun beside nginx, echoip and maxmind behind Hono, all
                on the same City file; says what is missing
  limits        measure what limiting and counting add to a request
  watching      measure what metrics and traces add to a request
  audit         measure pages of the audit log of a user with 100,000 entries
  rum           measure storing beacons over HTTP, and reading what they sum up to
  rum-memory    measure what memory is held while beacons are stored without a break
  pages         measure how soon pages of the dashboard can be used, with much on them
  soak          drive all parts together at half of what the server can, and watch it
  --rounds N    how often each server is driven, or each page read; default: 5
  --seconds N   how long each time; default: 8
  --beacons N   how many are sent for rum-memory; default: 5000000
  --minutes N   how long for soak; default: 60
  --quick       measure growth in fewer and shorter steps
  --svg FILE    where its plot is written; default: docs/growth.svg
  --maxmind FOLDER  where the package maxmind is installed; default: here
  --help        show this
Prints Markdown tables. Take the ratios: absolute figures differ from machine to machine.
`

type Options = ReturnType<typeof readOptions>

const SUBJECTS: Readonly<Record<string, (options: Options) => Promise<void>>> = {
  http: async (options) => benchHttp(await withGeo(options)),
  lookup: async () =>
    print(`\n${await benchLookup(join(await prepareGeoFolder(), PREPARED.maxmindCity))}`),
  batch: async (options) => benchBatch(await withGeo(options)),
  keys: async () => print(`\n${await benchKeys()}`),
  growth: async (options) => benchGrowth(await withGeo(options)),
  peers: async (options) => benchPeers(await withGeo(options)),
  limits: async () => print(`\n${await benchLimits()}`),
  watching: async () => print(`\n${benchWatching()}`),
  audit: async ({ rounds }) => print(`\n${await benchAudit(rounds)}`),
  rum: async (options) => benchRum(await withGeo(options)),
  pages: async (options) => benchPages(await withGeo(options)),
  'rum-memory': async (options) => print(await benchRumMemory(await withGeo(options))),
  soak: async (options) => benchSoak(await withGeo(options)),
}

await run(async () => {
  const options = readOptions(process.argv.slice(2))
  if (options.help) print(USAGE)
  else await bench(options)
})

function readOptions(args: string[]) {
  const number = (fallback: string) => ({ type: 'string', default: fallback }) as const
  const flag = { type: 'boolean', default: false } as const
  const options = {
    rounds: number('5'),
    seconds: number('8'),
    beacons: number('5000000'),
    minutes: number('60'),
    quick: flag,
    svg: { type: 'string', default: 'docs/growth.svg' },
    maxmind: { type: 'string', default: '.' },
    help: flag,
  } as const
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const [subject = 'http', ...more] = positionals
    if (more.length > 0 || !Object.hasOwn(SUBJECTS, subject)) {
      throw new Error(`There is no benchmark "${positionals.join(' ')}"`)
    }
    return {
      subject,
      rounds: toCount('--rounds', values.rounds),
      seconds: toCount('--seconds', values.seconds),
      beacons: toCount('--beacons', values.beacons),
      minutes: toCount('--minutes', values.minutes),
      quick: values.quick,
      svgFile: values.svg,
      maxmindFolder: values.maxmind,
      help: values.help,
    }
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function toCount(name: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new Error(`${name} must be a number from 1 to 9999999, got "${text}"`)
}

async function bench(options: Options): Promise<void> {
  print(`Machine: ${machineLine()}\n`)
  if (missingLine() !== '') print(`${missingLine()}\n`)
  await SUBJECTS[options.subject]?.(options)
}

async function withGeo(options: Options) {
  return { ...options, geoFolder: await prepareGeoFolder(), print }
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
