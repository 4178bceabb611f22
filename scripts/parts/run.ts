import { pipeline } from 'node:stream/promises'
import { codeOf, reasonOf } from '../../lib/parts/reason.ts'

/** Thrown for --help. The message is the usage. */
export class UsageRequest extends Error {}

/** The command line is wrong. */
export class UsageError extends Error {
  constructor(problem: string, usage?: string) {
    super(usage === undefined ? problem : `${problem}\n\n${usage}`)
  }
}

/**
 * Runs a command. Prints the usage to stdout if it was asked for. On an error, prints its message to
 * stderr and sets the exit code: 2 if the command line is wrong, else 1. Ends quietly if the reader of
 * stdout, such as `head`, has closed the pipe.
 */
export async function run(command: () => Promise<void>): Promise<void> {
  process.stdout.on('error', ignoreClosedPipe)
  try {
    await command()
  } catch (error) {
    if (isClosedPipe(error)) return
    if (error instanceof UsageRequest) {
      process.stdout.write(`${error.message.trimEnd()}\n`)
      return
    }
    report(reasonOf(error).trimEnd())
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

/** A command that does not wait for its output goes on with its work. */
function ignoreClosedPipe(error: Error): void {
  if (!isClosedPipe(error)) throw error
}

function isClosedPipe(error: unknown): boolean {
  return codeOf(error) === 'EPIPE'
}

/**
 * Prints a message to stderr, because stdout is for the command's result. On a terminal it replaces a
 * line that shows progress.
 */
export function report(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${text}\n` : `${text}\n`)
}

/** Writes texts to stdout, as fast as its reader takes them. Throws what `texts` throws. */
export async function print(texts: () => AsyncIterable<string | Uint8Array>): Promise<void> {
  // Without this option an error of the texts would destroy stdout, which would throw it once more.
  await pipeline(texts, process.stdout, { end: false })
}
