import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before } from 'node:test'
import { createMmdbWriter } from '../../lib/geo/mmdb/writer.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'
import { inherited, RUNTIME } from '../support/runtime.ts'

/** Runs `npm run locate` and its like on a small database, in a folder that is removed after the tests. */
export function prepareLocate() {
  let folder = ''
  let env: NodeJS.ProcessEnv = {}
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'meridian-locate-'))
    mkdirSync(join(folder, 'geo'))
    writeFileSync(join(folder, 'geo', 'regions.json'), '{}')
    const file = join(folder, 'GeoLite2-City.mmdb')
    writeFileSync(file, database())
    env = { ...inherited(), MERIDIAN_DATA_DIR: folder, MERIDIAN_GEO: file }
  })
  after(() => rmSync(folder, { recursive: true }))
  return {
    env: () => env,
    /** The path of a file in the folder. */
    path: (name: string) => join(folder, name),
    locate: (input: string | Uint8Array, args: readonly string[] = []) =>
      runWithInput(['scripts/address-lists/locate.ts', ...args], input, env),
    /** Runs another command with this environment. */
    command: (name: string, args: readonly string[], input: string | Uint8Array = '') =>
      runWithInput([`scripts/${name}.ts`, ...args], input, env),
  }
}

/** Runs a script until it ends. */
export async function runWithInput(
  args: readonly string[],
  input: string | Uint8Array,
  env: NodeJS.ProcessEnv,
) {
  const [program, ...options] = RUNTIME
  const child = spawn(program, [...options, ...args], { env })
  child.stdin.on('error', () => {}) // closed before all of it is written
  child.stdin.end(input)
  const output = Promise.all([buffer(child.stdout), buffer(child.stderr)])
  const [code] = await once(child, 'close')
  const [stdout, stderr] = await output
  return { code, stdout: stdout.toString(), stderr: stderr.toString() }
}

function database(): Uint8Array {
  const type = { databaseType: 'GeoLite2-City', description: 'Test', builtAt: Date.UTC(2026, 2, 1) }
  const writer = createMmdbWriter({ ...type, ipVersion: 6 })
  const cities = [
    ['1.0.0.0/8', 'Köln', { latitude: 50.94, longitude: 6.96 }],
    ['2.0.0.0/8', 'Two, "quoted"', undefined],
    ['2001:db8::/32', 'Six', { latitude: 52.52, longitude: 13.4 }],
  ] as const
  for (const [network, city, location] of cities) {
    const parsed = parseNetwork(network)
    if (parsed === null) throw new Error(network)
    const place = { country: { iso_code: 'DE' }, city: { names: { en: city } } }
    writer.insert(parsed, location === undefined ? place : { ...place, location })
  }
  return writer.toBytes()
}
