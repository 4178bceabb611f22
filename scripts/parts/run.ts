import { reasonOf } from '../../lib/reason.ts'

/** Runs a command. On an error, prints its message to stderr and sets the exit code to 1. */
export async function run(command: () => Promise<void>): Promise<void> {
  try {
    await command()
  } catch (error) {
    report(reasonOf(error))
    process.exitCode = 1
  }
}

/** Prints a message to stderr, because stdout is for the command's result. */
export function report(text: string): void {
  process.stderr.write(`${text}\n`)
}
