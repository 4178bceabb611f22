import { readFile } from 'node:fs/promises'
import { UsageError } from '../parts/run.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The options of each command, such as --json. */
export type OptionsByCommand = ReadonlyMap<string, readonly string[]>

/** Returns the completion script of the shell that `args` name, which the package contains. */
export async function readCompletion(args: readonly string[]): Promise<string> {
  const [shell, another] = args
  const known = SHELLS.find((name) => name === shell)
  if (known === undefined || another !== undefined) {
    throw new UsageError('Name one shell', `Usage: meridian completion ${SHELLS.join('|')}`)
  }
  return readFile(new URL(`../../completions/${known}`, import.meta.url), 'utf8')
}

/** Finds the options in a usage text. */
export function optionsIn(usage: string): string[] {
  return [
    ...new Set([...usage.matchAll(/(?<=^|[\s[|])--[a-z][a-z-]*/gm)].map(([option]) => option)),
  ]
}

/** The completion scripts by shell. */
export function completionScripts(
  options: OptionsByCommand,
): Record<(typeof SHELLS)[number], string> {
  const names = [...options.keys()]
  return {
    bash: bashScript(names, options),
    zsh: `#compdef meridian\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(names, options)}`,
    fish: fishScript(names, options),
  }
}

function bashScript(names: readonly string[], options: OptionsByCommand): string {
  const cases = [...options].map(([name, list]) => `    ${name}) words='${list.join(' ')}' ;;\n`)
  return `_meridian() {
  local words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${names.join(' ')}'
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
  const rest = [...options].flatMap(([name, list]) =>
    list.map(
      (option) =>
        `complete -c meridian -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}\n`,
    ),
  )
  return [first, ...rest].join('')
}
