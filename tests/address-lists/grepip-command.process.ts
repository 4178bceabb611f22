import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { prepareLocate } from './run-locate.ts'

const { command, path } = prepareLocate()

const LOG = `10.0.0.1 - "GET /1.2.3 HTTP/1.1" Chrome/120.0.0.0 "81.2.69.160, 2001:DB8::1"
nothing here
peer [2a02:4780::1]:443 is up
`

const grepip = (args: readonly string[], input: string | Uint8Array = LOG) =>
  command('address-lists/grepip', args, input)

describe('npm run grepip', () => {
  it('prints the lines of stdin that contain addresses', async () => {
    const { code, stdout, stderr } = await grepip([])
    const [first, , third] = LOG.split('\n')
    assert.deepEqual([code, stdout, stderr], [0, `${first}\n${third}\n`, ''])
  })

  it('prints only the addresses that are asked for', async () => {
    for (const [options, found] of [
      [['-o'], ['10.0.0.1', '81.2.69.160', '2001:DB8::1', '2a02:4780::1']],
      [
        ['--only-matching', '-4'],
        ['10.0.0.1', '81.2.69.160'],
      ],
      [['-o6'], ['2001:DB8::1', '2a02:4780::1']],
      [['-o46x'], ['81.2.69.160', '2a02:4780::1']],
      [['-o', '--ipv4', '--exclude-reserved'], ['81.2.69.160']],
    ] as const) {
      const { stdout } = await grepip(options)
      assert.deepEqual(stdout.trim().split('\n'), found, options.join(' '))
    }
  })

  it('ends with 1 if there is none, as grep does', async () => {
    const { code, stdout, stderr } = await grepip(['-x'], '10.0.0.1\n1.2.3.4.5\n')
    assert.deepEqual([code, stdout, stderr], [1, '', ''])
  })

  it('names the files if there are several, and goes on after one that cannot be read', async () => {
    const [one, two] = [path('one.log'), path('two.log')]
    writeFileSync(one, '1.1.1.1')
    writeFileSync(two, Buffer.from('K\xf6ln 2.2.2.2\n', 'latin1'))
    const { code, stdout, stderr } = await grepip([one, path('none.log'), two, '-'], '3.3.3.3\n')
    assert.equal(stdout, `${one}:1.1.1.1\n${two}:Köln 2.2.2.2\n(standard input):3.3.3.3\n`)
    assert.match(stderr, /^Cannot read .*none\.log: ENOENT: [^\n]*\n$/)
    assert.equal(code, 2)
    const plain = await grepip(['-oh', one, two])
    assert.deepEqual([plain.code, plain.stdout], [0, '1.1.1.1\n2.2.2.2\n'])
  })

  it('refuses an option that it does not know, with its usage', async () => {
    const { code, stdout, stderr } = await grepip(['--colour'])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /^Unknown option '--colour'[\s\S]*\n\nUsage: npm run --silent grepip -- /)
  })
})
