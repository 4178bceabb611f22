import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sharedServer } from '../support/scene/server.ts'
import { tempFolder } from '../support/temp-folder.ts'

// run: only on Node.js

/* A reader's first hour: the commands of the documents in one shell, one after the other, with the keys that they make. */

const { server, settings } = sharedServer()

/** As the reader meets them. */
const DOCUMENTS = ['README.md', 'docs/api.md', 'docs/clients.md', 'docs/forward-auth.md']

/** `npm ci && npm start` has run: the server answers. */
const START = 'npm ci && npm start'

/** What answers 404 as the document says: nobody knows where this machine is. */
const UNKNOWN = /\/v1\/ip\/me$/

/** Writes down the status of each answer, whatever the command does with the body. */
const SHELL = `set -eo pipefail
curl() {
  command curl --silent --write-out '%{stderr}%{http_code} %{url}\\n' "$@" 2>>"$WORK/answers"
}
`

const root = new URL('../../', import.meta.url)

/** The blocks of shell commands in a document, and the files that it has the reader write. */
function readCommands(path: string) {
  const document = readFileSync(new URL(path, root), 'utf8')
  const named = document.matchAll(/^<!-- (\S+) -->\n\n```\w+\n(.*?)^```$/gms)
  const files = [...named].map(([, name = '', content = '']) => ({ name, content }))
  const blocks = document
    .replace(/^<!-- .*? -->\n\n```.*?^```$/gms, '')
    .matchAll(/^```sh\n(.*?)^```$/gms)
  return { files, commands: [...blocks].map(([, block = '']) => block) }
}

/** Runs the commands in one shell. Returns what they print, and one line for each answer. */
async function runInShell(script: string, folder: string) {
  const env = { ...process.env, ...settings, WORK: folder }
  const child = spawn('bash', { cwd: root, env })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdin.end(script)
  const printed = await Promise.all([child.stdout, child.stderr].map((stream) => text(stream)))
  const answers = readFileSync(join(folder, 'answers'), 'utf8').trim().split('\n')
  return { code: await ended, output: printed.join('\n'), answers }
}

/** The block of docs/first-hour.md that begins so, for this user, this folder and the file of settings. */
function ofFirstHour(beginning: string, environment: string): string {
  const { commands } = readCommands('docs/first-hour.md')
  const block = commands.find((command) => command.startsWith(beginning))
  assert.ok(block !== undefined, beginning)
  return block
    .replaceAll('sudo -u meridian ', '')
    .replaceAll('/srv/meridian/app', fileURLToPath(root))
    .replaceAll('/etc/meridian.env', environment)
}

describe('the function of docs/first-hour.md', () => {
  it('runs commands with the settings of the server, from any folder', async () => {
    const folder = tempFolder()
    const own = { ...settings, MERIDIAN_BASE_URL: 'https://geo.example.com' }
    const environment = join(folder, 'meridian.env')
    const lines = Object.entries(own).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(environment, lines.join(''))
    const user = 'meridian user -- --email you@example.com'
    const script = ['meridian()', `${user} --role`, `${user} --link`]
      .map((beginning) => ofFirstHour(beginning, environment))
      .join('')
    const { code, output } = await runInShell(`cd "$WORK"; touch answers\n${script}`, folder)
    assert.equal(code, 0, output)
    assert.match(output, /^https:\/\/geo\.example\.com\/app\/reset\?token=\S+$/m)
    assert.match(output, /role of you@example\.com from user to operator/)
  })
})

describe('the commands of the documents', () => {
  it('work one after the other, with the keys that they make', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'addresses.txt'), '81.2.69.160\n8.8.8.8\n')
    const scripts = DOCUMENTS.map((path) => {
      const { files, commands } = readCommands(path)
      for (const { name, content } of files) writeFileSync(join(folder, name), content)
      return commands.filter((command) => !command.startsWith(START)).join('')
    })
    const script = scripts
      .join('')
      .replaceAll('http://127.0.0.1:8787', server.url)
      .replace(/\b(addresses\.txt|results\.jsonl|locate\.(?:sh|py))\b/g, '$WORK/$1')
    const { code, output, answers } = await runInShell(`${SHELL}${script}`, folder)
    assert.equal(code, 0, `${output}\n${answers.join('\n')}`)
    assert.equal(answers.length, script.match(/\bcurl\b/g)?.length, answers.join('\n'))
    for (const line of answers) {
      const [status = '', url = ''] = line.split(' ')
      assert.match(status, UNKNOWN.test(url) ? /^404$/ : /^20[014]$/, `${line}\n${output}`)
    }
  })
})
