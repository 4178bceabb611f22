import { codeOf, reasonOf } from '../../lib/reason.ts'

/** Thrown for --help. The message is the usage. */
export class UsageRequest extends Error {}

/**
 * Runs a command. Prints the usage to stdout if it was asked for. On an error, prints its message to
 * stderr and sets the exit code to 1.
 */
export async function run(command: () => Promise<void>): Promise<void> {
  process.stdout.on('error', ignoreClosedPipe)
  try {
    await command()
  } catch (error) {
    if (error instanceof UsageRequest) {
      process.stdout.write(`${error.message.trimEnd()}\n`)
      return
    }
    report(reasonOf(error))
    process.exitCode = 1
  }
}

/** A reader such as `head` may end before the output does. The command goes on with its work. */
function ignoreClosedPipe(error: Error): void {
  if (codeOf(error) !== 'EPIPE') throw error
}

/** Prints a message to stderr, because stdout is for the command's result. */
export function report(text: string): void {
  process.stderr.write(`${text}\n`)
}
