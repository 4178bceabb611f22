import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { completionScripts, optionsIn } from '../../scripts/package/completion.ts'
import { ON_POSIX } from '../support/runtime.ts'

const OPTIONS = new Map([
  ['start', []],
  ['backup', ['--out', '--keep']],
  ['doctor', ['--json']],
])

/** What bash offers for the last of these words. */
function complete(...words: string[]): string[] {
  const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_meridian
printf '%s\\n' "\${COMPREPLY[@]}"`
  const input = `${completionScripts(OPTIONS).bash}${ask}\n`
  const { stdout } = spawnSync('bash', { input, encoding: 'utf8' })
  return stdout.trim().split('\n')
}

describe('the completions of bash', ON_POSIX, () => {
  it('offer the commands', () => {
    assert.deepEqual(complete('meridian', ''), ['start', 'backup', 'doctor', 'completion'])
    assert.deepEqual(complete('meridian', 'd'), ['doctor'])
  })

  it('offer the options of the command', () => {
    assert.deepEqual(complete('meridian', 'backup', '--'), ['--out', '--keep', '--help'])
    assert.deepEqual(complete('meridian', 'doctor', '--'), ['--json', '--help'])
  })

  it('offer the shells of completion', () => {
    assert.deepEqual(complete('meridian', 'completion', ''), ['bash', 'zsh', 'fish'])
    assert.deepEqual(complete('meridian', 'completion', 'z'), ['zsh'])
  })

  it('leave other words, such as files, to the shell', () => {
    assert.deepEqual(complete('meridian', 'backup', '--out', ''), [''])
  })
})

describe('the completions of zsh', () => {
  it('start the completion of the shell where its settings have not', () => {
    const { zsh } = completionScripts(OPTIONS)
    assert.match(zsh, /^#compdef meridian\n.*\bcompinit; }\n.*\bbashcompinit\n_meridian/)
  })
})

describe('the completions of fish', () => {
  it('offer the commands and the shells', () => {
    const { fish } = completionScripts(OPTIONS)
    assert.match(fish, /-a 'start backup doctor completion'$/m)
    assert.match(fish, /_from completion' -f -a 'bash zsh fish'$/m)
  })

  it('offer the options of a command after it alone', () => {
    const { fish } = completionScripts(OPTIONS)
    assert.match(fish, /^complete -c meridian -n '__fish_seen_subcommand_from backup' -l keep$/m)
  })
})

describe('options in a usage', () => {
  it('are found once each, wherever they stand', () => {
    const usage =
      'Usage: npm run restore -- FILE [--overwrite]\n  --keep-all N  not with --keep-all\n'
    assert.deepEqual(optionsIn(usage), ['--overwrite', '--keep-all'])
  })

  it('may end with a digit', () => {
    assert.deepEqual(optionsIn('  -4, --ipv4  find\n'), ['--ipv4'])
  })

  it('are not those of npm', () => {
    assert.deepEqual(optionsIn('Usage: npm run --silent locate -- [options]\n  --csv\n'), ['--csv'])
  })
})
