import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before } from 'node:test'
import { mmdbBytes } from '../support/geo-files.ts'
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
    /** The path of a file in the folder. */
    path: (name: string) => join(folder, name),
    locate: (input: Input, args: readonly string[] = []) =>
      runWithInput(['scripts/address-lists/locate.ts', ...args], input, env),
    /** Runs `npm run locate` on many lines, with a reader that closes the pipe after one. */
    locateOne: async (...args: readonly string[]) => {
      const command = `${RUNTIME.join(' ')} scripts/address-lists/locate.ts ${args.join(' ')}`
      return runProgram(['sh', '-c', `${command} | head -n 1`], '1.1.1.1\n'.repeat(200_000), env)
    },
    /** Runs another command with this environment. */
    command: (name: string, args: readonly string[], input: Input = '') =>
      runWithInput([`scripts/${name}.ts`, ...args], input, env),
  }
}

type Input = string | Uint8Array

/** Runs a script until it ends. */
export function runWithInput(args: readonly string[], input: Input, env: NodeJS.ProcessEnv) {
  return runProgram([...RUNTIME, ...args], input, env)
}

async function runProgram(
  [program = '', ...args]: readonly string[],
  input: Input,
  env: NodeJS.ProcessEnv,
) {
  const child = spawn(program, args, { env })
  child.stdin.on('error', () => {}) // closed before all of it is written
  child.stdin.end(input)
  const output = Promise.all([buffer(child.stdout), buffer(child.stderr)])
  const [code] = await once(child, 'close')
  const [stdout, stderr] = await output
  return { code, stdout: stdout.toString(), stderr: stderr.toString() }
}

function database(): Uint8Array {
  const germany = { country: { iso_code: 'DE' } }
  const place = (en: string, latitude: number, longitude: number) => {
    return { ...germany, city: { names: { en } }, location: { latitude, longitude } }
  }
  return mmdbBytes({
    '1.0.0.0/8': place('Köln', 50.94, 6.96),
    '2.0.0.0/8': { ...germany, city: { names: { en: 'Two, "quoted"' } } },
    '2a00:db8::/32': place('Six', 52.52, 13.4),
  })
}
