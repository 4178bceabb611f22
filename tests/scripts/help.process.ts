import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { runScript } from '../support/process.ts'

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

/** The file that each npm script runs, except those for tests and checks, and what npm runs by itself. */
const commands = Object.entries(scripts).flatMap(([name, line]) => {
  const [, file] = /node\.sh (server\.ts|(?:bench|scripts)\/\S+\.ts)/.exec(line) ?? []
  return file === undefined || name === 'prepack' ? [] : [{ name, file }]
})

describe('--help', () => {
  it('is tested for all commands of package.json', () => {
    assert.ok(commands.length >= 15)
  })

  for (const { name, file } of commands) {
    it(`prints how to use npm run ${name} to stdout, and does nothing else`, async () => {
      // With a folder that cannot be made, anything else would fail.
      const settings = { MERIDIAN_DATA_DIR: '/dev/null/data' }
      const { code, stdout, stderr } = await runScript([file, '--help'], settings)
      assert.deepEqual([code, stderr], [0, ''])
      const [, command] = /^Usage: npm (?:run )?(?:--silent )?(\S+)/.exec(stdout) ?? []
      assert.equal(command, name.replace(':peers', ''))
      assert.match(stdout, /[^\n]\n$/)
    })
  }
})
