import { join } from 'node:path'
import { PREPARED } from '../lib/geo/files/prepare.ts'
import { reasonOf } from '../lib/parts/reason.ts'
import { type Entrant, listEntrants, listHttpEntrants } from './compare/entrants.ts'
import { startNginxProxy } from './compare/nginx.ts'
import { type Mix, randomMix, writeAddresses, zipfMix } from './parts/addresses.ts'
import { driveInRounds } from './parts/load.ts'
import { makeFolder } from './parts/machine.ts'
import type { BenchOptions } from './parts/options.ts'
import { checkAnswer, startMeridian, type Target } from './parts/servers.ts'
import { printTable } from './parts/table.ts'

const ADDRESSES = 1_000_000
const PER_BATCH = 1_000
const BATCH_CONNECTIONS = 8

/** Compares Meridian with all databases to a bare Hono answer and nginx. */
export async function benchHttp(options: BenchOptions): Promise<void> {
  await compare(listHttpEntrants(cityFile(options), options.geoFolder), options)
}

/** Compares Meridian on each runtime to its peers, all with the same City file. */
export async function benchPeers(options: BenchOptions): Promise<void> {
  await compare(listEntrants(cityFile(options), options), options)
}

function cityFile({ geoFolder }: BenchOptions): string {
  return join(geoFolder, PREPARED.maxmindCity)
}

/** Drives one server after another, round by round, and prints a table of medians for each way to ask. */
async function compare(entrants: readonly Entrant[], options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  await using servers = new AsyncDisposableStack()
  const running: { name: string; target: Target }[] = []
  for (const { name, install, start } of entrants) {
    try {
      if (install !== undefined) throw new Error(`it is missing. To install it: ${install}`)
      const target = servers.use(await start(folder.path))
      await checkCountry(target)
      running.push({ name, target })
    } catch (error) {
      process.stdout.write(`Not measured: ${name}: ${reasonOf(error)}\n`)
    }
  }
  for (const { title, mix, headers } of waysToAsk()) {
    const load = { args: { addresses: writeAddresses(folder.path, mix) } }
    const trials = running.map(({ name, target }) => {
      return { name, target: { ...target, headers: { ...target.headers, ...headers } }, load }
    })
    const results = await driveInRounds(trials, options)
    const ours =
      results.find(({ name }) => name.startsWith('Meridian'))?.measured['requests/s'] ?? Number.NaN
    const rows = results.map(({ name, measured }) => ({
      server: name,
      ...measured,
      'Meridian ÷ server': (ours / measured['requests/s']).toFixed(2),
    }))
    printTable(rows, title)
  }
}

function waysToAsk(): { title: string; mix: Mix; headers?: Target['headers'] }[] {
  const [random, zipf] = [randomMix(ADDRESSES), zipfMix(ADDRESSES)]
  return [
    { title: 'random addresses', mix: random },
    { title: 'zipf addresses', mix: zipf },
    {
      title: 'random addresses, a connection for each',
      mix: random,
      headers: { Connection: 'close' },
    },
  ]
}

/** Throws unless the server finds a country, because a server that finds nothing would look fast. */
async function checkCountry(target: Target): Promise<void> {
  if (/"US"/.test(await checkAnswer(target))) return
  throw new Error('it does not find the country of an address')
}

/** Measures what a request costs Meridian directly, behind nginx, and mixed with POSTs. */
export async function benchProxy(options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  const settings = { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }
  await using direct = await startMeridian(folder.path, options.geoFolder, settings)
  await using nginx = await startNginxProxy(folder.path, direct)
  // Measures the processor time of Meridian, not of nginx.
  const proxied = { ...nginx, pid: direct.pid }
  const gets = { args: { addresses: writeAddresses(folder.path, randomMix(ADDRESSES)) } }
  const mixed = { args: { ...gets.args, every: 20 } }
  const trials = [
    { name: 'direct', target: direct, load: gets },
    { name: 'direct, every 20th request a POST', target: direct, load: mixed },
    { name: 'behind nginx', target: proxied, load: gets },
    { name: 'behind nginx, every 20th request a POST', target: proxied, load: mixed },
  ]
  const results = await driveInRounds(trials, options)
  printTable(results.map(({ name, measured }) => ({ '': name, ...measured })))
}

/** Sends batches of 1,000 addresses over HTTP and prints the medians. */
export async function benchBatch(options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  await using target = await startMeridian(folder.path, options.geoFolder)
  const trials = [randomMix(ADDRESSES), zipfMix(ADDRESSES)].map((mix) => {
    const args = { addresses: writeAddresses(folder.path, mix), every: 1, batch: PER_BATCH }
    return { name: mix.name, target, load: { connections: BATCH_CONNECTIONS, args } }
  })
  const results = await driveInRounds(trials, options)
  const rows = results.map(({ name, measured }) => ({
    addresses: name,
    'look-ups/s': measured['requests/s'] * PER_BATCH,
    'CPU µs/look-up': measured['CPU µs/request'] / PER_BATCH,
    'p50 ms/batch': measured['p50 ms'],
    failed: measured.failed,
  }))
  printTable(rows)
}
