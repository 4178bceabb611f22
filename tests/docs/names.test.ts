import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { freshMailScene } from '../support/scene/mail.ts'

const cwd = new URL('../../', import.meta.url)

/** The changelog may name what is gone, and the clients have commands of their own. */
const OTHERS = ['node_modules', 'CHANGELOG.md', 'sdk']
const TEXT = globSync('**/*.md', { cwd, exclude: (name) => OTHERS.includes(name) })
  .map((path) => readFileSync(new URL(path, cwd), 'utf8'))
  .join('\n')

const allOf = (pattern: RegExp) => [...new Set([...TEXT.matchAll(pattern)].map(([, one]) => one))]

describe('the documents', () => {
  const { app } = freshMailScene({}, async () => {
    await ada.row()
  })
  const ada = app.operator('ada')

  it('name only pages of the dashboard that exist', async () => {
    const paths = allOf(/`(\/app(?:\/[a-z-]+)*)`/g)
    assert.ok(paths.length > 10)
    for (const path of paths) {
      const { status } = await ada.visit(path ?? '')
      assert.equal(status, 200, path)
    }
  })

  it('name only options that the usage of a command explains', () => {
    const sources = globSync(['{scripts,bench}/**/*.ts', 'tests/{run.ts,support/runner/*.ts}'], {
      cwd,
    })
    const usages = sources.map((path) => readFileSync(new URL(path, cwd), 'utf8')).join('\n')
    const commands = allOf(/npm run (?:--silent )?[a-z:]+ -- ([^`\n#|>)]*)/g)
    const options = new Set(commands.flatMap((text) => text?.match(/(?<= |^)--[a-z-]+/g) ?? []))
    assert.ok(options.size > 20)
    const unknown = [...options].filter((option) => !new RegExp(`${option}\\b(?!-)`).test(usages))
    assert.deepEqual(unknown, [])
  })

  it('name only npm commands that exist', () => {
    const names = allOf(/npm run (?:--silent )?([a-z:]+)/g)
    assert.ok(names.length > 20)
    assert.deepEqual(
      names.filter((name) => !Object.hasOwn(manifest.scripts, name ?? '')),
      [],
    )
  })
})
