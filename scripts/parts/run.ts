/** Runs a command: an error is shown in one line on stderr, and the exit code is 1. */
export async function run(command: () => Promise<void>): Promise<void> {
  try {
    await command()
  } catch (error) {
    report(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

/** Tells whoever runs the command; stdout is for what it is run for. */
export function report(text: string): void {
  process.stderr.write(`${text}\n`)
}
