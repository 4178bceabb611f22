import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/**
 * Asks on the terminal and returns the typed line, or returns one line from a pipe. `advice`: what to do if the
 * pipe is empty.
 */
export function ask(question: string, advice: string): Promise<string> {
  return isInteractive() ? readTyped(question, process.stderr) : readPiped(advice)
}

/** Like `ask`, but the terminal does not show what is typed. */
export async function askSecret(question: string): Promise<string> {
  if (!isInteractive()) return readPiped('pipe the answer into the command')
  process.stderr.write(question)
  try {
    return await readTyped('', new Writable({ write: (_chunk, _encoding, done) => done() }))
  } finally {
    process.stderr.write('\n')
  }
}

/** Whether somebody types the answers. */
export function isInteractive(): boolean {
  return process.stdin.isTTY
}

async function readTyped(question: string, echo: NodeJS.WritableStream): Promise<string> {
  const stopped = new AbortController()
  const terminal = createInterface({ input: process.stdin, output: echo, terminal: true })
  terminal.once('SIGINT', () => stopped.abort())
  terminal.once('close', () => stopped.abort())
  try {
    return await terminal.question(question, { signal: stopped.signal })
  } catch (cause) {
    throw new Error('Nothing was changed', { cause })
  } finally {
    terminal.close()
  }
}

async function readPiped(advice: string): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line
  throw new Error(`There is no line on the standard input: ${advice}`)
}
