import assert from 'node:assert/strict'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { codeFiles, codeHash, hashCode } from '../../../lib/geo/atlas/code-hash.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()

function write(path: string, text: string): URL {
  writeFileSync(join(folder, path), text)
  return pathToFileURL(join(folder, path))
}

describe('the hash of the code', () => {
  it('changes with every file that the code imports, and with no other', () => {
    mkdirSync(join(folder, 'parts'))
    const root = write('root.ts', "import { rule } from './parts/rule.ts'\n")
    write('parts/rule.ts', "import table from '../table.json' with { type: 'json' }\n")
    write('table.json', '{}')
    write('other.ts', '1')
    const before = hashCode([root])
    write('other.ts', '2')
    assert.equal(hashCode([root]), before)
    write('table.json', '{"a":1}')
    const after = hashCode([root])
    assert.notEqual(after, before)
    write('parts/rule.ts', "import {\n  a,\n} from '../table.json' with { type: 'json' }\n")
    assert.notEqual(hashCode([root]), after)
  })

  it('covers what decides the answers of an atlas', () => {
    const names = codeFiles().map((url) => url.replace(/.*\/lib\/geo\//, ''))
    for (const name of [
      'answer/locate.ts',
      'atlas/compile.ts',
      'mmdb/decoder.ts',
      'place/city-name.ts',
      'place/confidence.ts',
      'place/countries.json',
      'place/measured-shares.json',
      'place/place.ts',
      ...globSync('providers/*.ts', { cwd: 'lib/geo', exclude: ['**/schema.ts'] }),
    ]) {
      assert.ok(names.includes(name), name)
    }
    assert.match(codeHash(), /^[0-9a-f]{64}$/)
  })
})
