import { findSimilar } from '../lib/config/did-you-mean.ts'
import { VERSION } from '../lib/config/version.ts'
import { COMMANDS, isCommand } from './package/commands.ts'
import { readCompletion, SHELLS } from './package/completion.ts'
import { run, UsageError } from './parts/run.ts'

const USAGE = `Usage: meridian COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, { about }]) => `  ${name.padEnd(12)}${about}\n`)
  .join('')}  completion  print the completion script for ${SHELLS.join(', ')}

meridian COMMAND --help lists the options of a command. Settings are environment variables.
`

await run(async () => {
  const [name, ...args] = process.argv.slice(2)
  if (name === undefined || name === 'help' || name === '--help') process.stdout.write(USAGE)
  else if (name === '--version') process.stdout.write(`${VERSION}\n`)
  else if (name === 'completion') process.stdout.write(await readCompletion(args))
  else if (isCommand(name)) await runCommand(name)
  else throw unknownCommand(name)
})

/** One line: the list of all commands would push it out of sight. */
function unknownCommand(name: string): UsageError {
  const similar = findSimilar(name, [...Object.keys(COMMANDS), 'completion'])
  const advice = similar === undefined ? '' : `did you mean ${similar}? `
  return new UsageError(`There is no command ${name}: ${advice}npx meridian help lists all`)
}

/** Runs the file that npm scripts run in a clone: each reads its own arguments. */
async function runCommand(name: keyof typeof COMMANDS): Promise<void> {
  process.argv.splice(2, 1)
  await COMMANDS[name].load()
}
