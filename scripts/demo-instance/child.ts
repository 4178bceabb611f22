import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export type Environment = Readonly<Record<string, string>>

/** Runs a program of this repository, as npm does. Throws what it says where it fails. */
export async function runToEnd(args: readonly string[], env: Environment): Promise<void> {
  const child = start(args, env)
  const [said, [code]] = await Promise.all([
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'close'),
  ])
  if (code !== 0) throw new Error(`${args.join(' ')}: ${said.slice(-500)}`)
}

export interface Server {
  /** Without a slash at the end. */
  readonly url: string
  stop(): Promise<void>
}

/** Starts the server. Resolves once it listens. */
export async function startServer(env: Environment): Promise<Server> {
  const child = start(['server.ts'], env)
  const url = await Promise.race([readUrl(child), once(child, 'close').then(() => undefined)])
  if (url === undefined) throw new Error('The server does not start')
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'close')
    },
  }
}

async function readUrl({ stdout }: ChildProcess): Promise<string | undefined> {
  let said = ''
  for await (const chunk of stdout ?? []) {
    said += chunk
    const url = /^Meridian +(http:\S+)\n/m.exec(said)?.[1]
    if (url === undefined) continue
    // What it says later is for nobody, and must not fill the pipe.
    stdout?.resume()
    return url
  }
  return undefined
}

function start(args: readonly string[], env: Environment): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(process.execPath, ['--import', 'tsx', ...args], { env: { PATH, HOME, ...env } })
}
