import { readFile } from 'node:fs/promises'
import { readArguments } from '../parts/options.ts'
import { UsageError } from '../parts/run.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The options of each command, such as --json. */
export type OptionsByCommand = ReadonlyMap<string, readonly string[]>

const USAGE = `Usage: meridian completion ${SHELLS.join('|')}
Prints the script with which the shell completes commands and options: source <(meridian completion bash)
`

/** Returns the completion script of the shell that the command line names, which the package contains. */
export async function readCompletion(args: readonly string[]): Promise<string> {
  const { positionals } = readArguments({ args: [...args], allowPositionals: true }, USAGE)
  const [shell, another] = positionals
  const known = SHELLS.find((name) => name === shell)
  if (known === undefined || another !== undefined) throw new UsageError('Name one shell', USAGE)
  return readFile(new URL(`../../completions/${known}`, import.meta.url), 'utf8')
}

/** Finds the options of a command in its usage text. */
export function optionsIn(usage: string): string[] {
  const own = usage.replaceAll('npm run --silent', '')
  return [
    ...new Set([...own.matchAll(/(?<=^|[\s[|])--[a-z][a-z\d-]*/gm)].map(([option]) => option)),
  ]
}

/** The completion scripts by shell. Each command has --help, too. */
export function completionScripts(
  options: OptionsByCommand,
): Record<(typeof SHELLS)[number], string> {
  const names = [...options.keys(), 'completion']
  const all = new Map(
    names.map((name) => [name, [...new Set([...(options.get(name) ?? []), '--help'])]]),
  )
  const bash = bashScript(names, all)
  return { bash, zsh: `${ZSH_HEAD}${bash}`, fish: fishScript(names, all) }
}

/** zsh reads the script of bash. It can only after compinit, which not all settings run. */
const ZSH_HEAD = `#compdef meridian
(( $+functions[compdef] )) || { autoload -U +X compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
`

function bashScript(names: readonly string[], options: OptionsByCommand): string {
  const cases = [...options].map(([name, list]) => `    ${name}) words='${list.join(' ')}' ;;\n`)
  return `_meridian() {
  local words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${names.join(' ')}'
  elif [ "\${COMP_WORDS[1]}" = completion ]; then
    words='${SHELLS.join(' ')}'
  elif [[ \${COMP_WORDS[COMP_CWORD]} == -* ]]; then
    case \${COMP_WORDS[1]} in
${cases.join('')}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _meridian meridian
`
}

function fishScript(names: readonly string[], options: OptionsByCommand): string {
  const first = `complete -c meridian -n __fish_use_subcommand -f -a '${names.join(' ')}'\n`
  const shells = `complete -c meridian -n '__fish_seen_subcommand_from completion' -f -a '${SHELLS.join(' ')}'\n`
  const rest = [...options].flatMap(([name, list]) =>
    list.map(
      (option) =>
        `complete -c meridian -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}\n`,
    ),
  )
  return [first, shells, ...rest].join('')
}
