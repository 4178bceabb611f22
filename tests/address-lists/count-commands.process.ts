import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { prepareLocate } from './run-locate.ts'

const { command, locate, path } = prepareLocate()

const VISITORS = 'who;ip\nAda;1.1.1.1\nEve;none\nJo;1.1.1.1\n'
const LOG = 'GET / from 2a00:db8::1\n9.9.9.9 again\n'

describe('npm run summarize', () => {
  it('counts the rows of files of different forms together', async () => {
    const [one, two] = [path('one.csv'), path('two.log')]
    writeFileSync(one, VISITORS)
    writeFileSync(two, LOG)
    const { code, stdout, stderr } = await command('address-lists/summarize', [one, two, '--json'])
    assert.equal(code, 0, stderr)
    const { addresses, cities, privacy } = JSON.parse(stdout)
    assert.deepEqual(addresses, { total: 5, distinct: 3, invalid: 1 })
    assert.deepEqual(cities, [
      { name: 'Köln', country: 'DE', count: 2 },
      { name: 'Six', country: 'DE', count: 1 },
    ])
    assert.equal(privacy, undefined)
    assert.match(stderr, /^Read \S+one\.csv as CSV with semicolons, .*\nRead \S+two\.log as Lines/)
  })

  it('counts stdin as npm run locate -- --summary does', async () => {
    const [summary, located] = await Promise.all([
      command('address-lists/summarize', [], VISITORS),
      locate(VISITORS, ['--summary']),
    ])
    assert.match(summary.stdout, /^3 rows, 1 different address, 1 row without an address\n/)
    assert.equal(summary.stdout, located.stdout)
  })

  it('names a file that it cannot read', async () => {
    const { code, stdout, stderr } = await command('address-lists/summarize', [path('none')])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Cannot read .*none: ENOENT/)
  })
})

describe('npm run map', () => {
  it('writes the page that npm run locate -- --map writes', async () => {
    const [mine, same] = [path('map.html'), path('same.html')]
    const [{ code, stdout, stderr }] = await Promise.all([
      command('address-lists/map', ['--out', mine], VISITORS),
      locate(VISITORS, ['--map', same]),
    ])
    assert.deepEqual([code, stdout], [0, ''], stderr)
    assert.match(readFileSync(mine, 'utf8'), /around Köln, DE: 2 rows/)
    assert.equal(readFileSync(mine, 'utf8'), readFileSync(same, 'utf8'))
  })

  it('names a file that it cannot write', async () => {
    const args = ['--out', path('none/map.html')]
    const { code, stderr } = await command('address-lists/map', args, VISITORS)
    assert.equal(code, 1)
    assert.match(stderr, /\nCannot write .*none\/map\.html: ENOENT: .*\n$/)
  })

  it('needs the name of a file to write', async () => {
    const { code, stderr } = await command('address-lists/map', [], VISITORS)
    assert.equal(code, 2)
    assert.match(stderr, /^--out is missing\n\nUsage: /)
  })
})
