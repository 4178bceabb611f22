import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOADER } from '../runtime.ts'

/** npm packages of other runtimes than the project's, each with the options that make it run TypeScript. */
const RUNTIMES = [
  { name: 'node', version: '26.10.0', options: LOADER },
  { name: 'deno', version: '2.9.6', options: ['run', '--allow-all'] },
  { name: 'bun', version: '1.4.5', options: [] },
] as const

const INSTALL_LIMIT_MS = 900_000

/** Installs the runtimes into a temporary folder, and calls `work` with the command of each. */
export function withRuntimes(names: readonly string[], work: (command: string) => void): void {
  const chosen = RUNTIMES.filter(({ name }) => names.includes(name))
  if (chosen.length < names.length) throw new Error(`Unknown runtime: ${names.join()}`)
  const folder = mkdtempSync(join(tmpdir(), 'meridian-runtimes-'))
  try {
    install(folder, Object.fromEntries(chosen.map(({ name, version }) => [name, version])))
    for (const { name, version, options } of chosen) {
      process.stdout.write(`=== ${name} ${version}\n`)
      work([join(folder, 'node_modules', '.bin', name), ...options].join(' '))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function install(folder: string, dependencies: Record<string, string>): void {
  // Each of these packages downloads its program in an install script, which .npmrc forbids here.
  const allowScripts = Object.fromEntries(Object.keys(dependencies).map((name) => [name, true]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies, allowScripts }))
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts=false']
  execFileSync('npm', args, { stdio: 'inherit', timeout: INSTALL_LIMIT_MS })
}
