import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { bareHono } from './compare/entrants.ts'
import { startNginxProxy } from './compare/nginx.ts'
import { addLists } from './parts/add-lists.ts'
import { randomMix, writeAddresses } from './parts/addresses.ts'
import { driveInRounds, type Load } from './parts/load.ts'
import { makeFolder } from './parts/machine.ts'
import type { BenchOptions } from './parts/options.ts'
import { NODE, prepareMeridian, startMeridian, startServer, type Target } from './parts/servers.ts'
import { printTable } from './parts/table.ts'

const ADDRESSES = 300_000
/** The page that the publishable key is for. */
const ORIGIN = 'https://bench.example'
const CLIENT = '81.2.69.160'
const PROXIED = { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }

interface Trial {
  readonly name: string
  readonly target: Target
  readonly load: Load
  /** The name of the trial that this one is compared with. */
  readonly base: string
}

/** Measures look-ups of clients that open a connection for each request. */
export function benchClose(options: BenchOptions): Promise<void> {
  return benchWay('a connection per request', { Connection: 'close' }, options)
}

/** Measures look-ups that the fast path leaves to node:http, on kept connections. */
export function benchOdd(options: BenchOptions): Promise<void> {
  return benchWay('with an unusual header', { 'Proxy-Connection': 'keep-alive' }, options)
}

/** Sends the same requests to Meridian and to a bare Hono answer, in the usual way and in another one. */
async function benchWay(
  way: string,
  headers: Target['headers'],
  options: BenchOptions,
): Promise<void> {
  using folder = makeFolder()
  await using meridian = await startMeridian(folder.path, options.geoFolder)
  await using hono = await bareHono(NODE).start(folder.path)
  const load = { args: { addresses: writeAddresses(folder.path, randomMix(ADDRESSES)) } }
  const both = (kind: string, more: Target['headers']): Trial[] => {
    const base = `bare Hono, ${kind}`
    return [
      { name: base, target: hono },
      { name: `Meridian, ${kind}`, target: meridian },
    ].map(({ name, target }) => ({
      name,
      target: { ...target, headers: { ...target.headers, ...more } },
      load,
      base,
    }))
  }
  await printTrials([...both('kept', {}), ...both(way, headers)], options)
}

/** Measures look-ups behind nginx, as Debian installs it and with `keepalive`. */
export async function benchNginx(options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  await using servers = new AsyncDisposableStack()
  const hono = servers.use(await bareHono(NODE).start(folder.path))
  const meridian = servers.use(await startMeridian(folder.path, options.geoFolder, PROXIED))
  const load = { args: { addresses: writeAddresses(folder.path, randomMix(ADDRESSES)) } }
  const trials: Trial[] = []
  for (const way of ['as installed', 'with keepalive'] as const) {
    const base = `bare Hono, nginx ${way}`
    for (const [name, server] of [
      [base, hono],
      [`Meridian, nginx ${way}`, meridian],
    ] as const) {
      const nginx = servers.use(await startNginxProxy(folder.path, server, way))
      // Measures the processor time of the server, not of nginx.
      trials.push({ name, target: { ...nginx, pid: server.pid }, load, base })
    }
  }
  await printTrials(trials, options)
}

/** Measures the ways in which callers ask for one address, on kept connections, with lists of networks. */
export async function benchAsks(options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  const geoFolder = join(folder.path, 'geo-with-lists')
  addLists(options.geoFolder, geoFolder)
  const prepared = prepareMeridian(folder.path, geoFolder, PROXIED)
  const publishable = makePublishableKey(prepared.env)
  await using hono = await bareHono(NODE).start(folder.path)
  await using meridian = await startServer(prepared)
  const { addresses } = randomMix(ADDRESSES)
  const asks = (name: string, ask: (address: string) => string, headers = meridian.headers) => {
    const mix = { name: name.replaceAll(/\W+/g, '-'), addresses: addresses.map(ask) }
    const load = { args: { addresses: writeAddresses(folder.path, mix) } }
    return { name, target: { ...meridian, headers }, load, base: 'plain' }
  }
  const plain = asks('plain', (address) => address)
  const visitor = { ...meridian.headers, 'X-Forwarded-For': CLIENT }
  const bearer = { Authorization: `Bearer ${meridian.headers['X-API-Key']}` }
  const query = (text: string) => asks(text, (address) => `${address}?${text}`)
  const trials: Trial[] = [
    { ...plain, name: 'bare Hono', target: hono },
    plain,
    asks('me', () => 'me', visitor),
    asks('me/timezone', () => 'me/timezone', visitor),
    query('fields=location.country.code,location.city'),
    query('lang=de'),
    query('include=network'),
    query('include=privacy'),
    asks('timezone', (address) => `${address}/timezone`),
    asks('IPv6', (address) => `2a02:${address.replaceAll('.', ':')}::1`),
    asks('Bearer', (address) => address, bearer),
    asks('publishable', (address) => address, { 'X-API-Key': publishable, Origin: ORIGIN }),
    { ...plain, name: 'batch of one', load: { args: { ...plain.load.args, every: 1 } } },
  ]
  await printTrials(trials, options)
}

function makePublishableKey(env: NodeJS.ProcessEnv): string {
  const owner = ['--email', 'bench@example.com', '--name', 'page']
  const [program, ...args] = [...NODE.command, 'scripts/key.ts', ...owner]
  const type = ['--type', 'publishable', '--origins', ORIGIN]
  return execFileSync(program, [...args, ...type], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

async function printTrials(trials: readonly Trial[], options: BenchOptions): Promise<void> {
  const results = await driveInRounds(trials, options)
  const cpu = new Map(results.map(({ name, measured }) => [name, measured['CPU µs/request']]))
  const rows = results.map(({ name, measured, base }) => {
    const ratio = measured['CPU µs/request'] / (cpu.get(base) ?? Number.NaN)
    return { '': name, ...measured, [`CPU ÷ ${base.replace(/,.*/, '')}`]: ratio.toFixed(2) }
  })
  printTable(rows)
}
