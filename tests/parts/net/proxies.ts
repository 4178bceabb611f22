import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findFreePort } from '../../../scripts/parts/start-process.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/* Real proxies in front of the server, configured as the documents say. */

export interface RunningProxy {
  readonly url: string
  stop(): Promise<void>
}

type ProxyName = 'nginx' | 'caddy' | 'haproxy'

/** Where the proxy listens, and the folder for its files. */
interface Place {
  readonly port: number
  readonly folder: string
}

interface Program {
  /** Makes a whole configuration of the recipe. */
  readonly configure: (recipe: string, place: Place) => string
  readonly args: (file: string, folder: string) => readonly string[]
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

const PROGRAMS: Readonly<Record<ProxyName, Program>> = {
  nginx: {
    configure: (recipe, { port, folder }) => {
      const [upstream = '', location = ''] = recipe.split('# in the server:\n')
      return `daemon off; master_process off; pid ${folder}/pid;
events {}
http {
  access_log off;
  ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  ${upstream}
  server { listen 127.0.0.1:${port}; ${location} }
}`
    },
    args: (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr'],
  },
  caddy: {
    configure: (recipe, { port }) => {
      const site = recipe.replace(/^\w+\.example\.com/m, `http://127.0.0.1:${port}`)
      return `{\n  admin off\n  default_bind 127.0.0.1\n}\n${site}`
    },
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  haproxy: {
    configure: (recipe, { port }) => `defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
frontend all
  bind 127.0.0.1:${port}
  default_backend meridian
${recipe}`,
    args: (file) => ['-f', file],
  },
}

/** The first recipe for `name` in the document of docs. */
export function readRecipe(name: ProxyName, document = 'operations.md'): string {
  const [recipe = ''] = readRecipes(name, document)
  assert.ok(recipe.includes('127.0.0.1:8787'), name)
  return recipe
}

export function readRecipes(name: ProxyName, document: string): string[] {
  const text = readFileSync(new URL(`../../../docs/${document}`, import.meta.url), 'utf8')
  const blocks = text.matchAll(new RegExp(`^\`\`\`${name}\n([^]*?)^\`\`\``, 'gm'))
  return [...blocks].map(([, recipe = '']) => recipe)
}

/** Starts the proxy in front of the server at `target`, and waits until it listens. */
export async function startProxy(
  name: ProxyName,
  recipe: string,
  target: string,
): Promise<RunningProxy> {
  const place = { port: await findFreePort(), folder: tempFolder() }
  const upstream = recipe.replace('127.0.0.1:8787', new URL(target).host)
  return startConfigured(name, PROGRAMS[name].configure(upstream, place), place)
}

/** Starts the proxy with this configuration, and waits until it listens. */
export async function startConfigured(
  name: ProxyName,
  config: string,
  place: Place,
): Promise<RunningProxy> {
  const file = join(place.folder, 'config')
  writeFileSync(file, config)
  // Caddy writes into these folders.
  const env = { ...process.env, XDG_DATA_HOME: place.folder, XDG_CONFIG_HOME: place.folder }
  const child = spawn(name, PROGRAMS[name].args(file, place.folder), {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let problems = ''
  child.stderr.on('data', (chunk) => {
    problems += chunk
  })
  // A program that is missing fails the tests: see the packages in .ci/run.
  child.on('error', ({ message }) => {
    problems += message
  })
  await waitForPort(place.port, child, () => `Cannot start ${name}: ${problems}`)
  return { url: `http://127.0.0.1:${place.port}`, stop: () => stop(child) }
}

async function waitForPort(port: number, child: ChildProcess, reason: () => string) {
  const deadline = performance.now() + 20_000
  while (!(await isOpen(port))) {
    const hasEnded = child.pid === undefined || child.exitCode !== null
    assert.ok(!hasEnded && performance.now() < deadline, reason())
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
