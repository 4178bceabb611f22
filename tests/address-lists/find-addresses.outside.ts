import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { findAddresses } from '../../lib/address-lists/find-addresses.ts'

const TEXTS = 10_000
const SEED = 20_261_125

/**
 * Reads pairs of a text and what was found in it with Python's ipaddress. Answers what is wrong: everything
 * found must be an address that touches no letter or digit, in the order of the text, which may be encoded for
 * a URL. Every address must be found that stands apart, unless it is the version of a product (`Chrome/1.2.3.4`).
 */
const COMPARE = `
import collections, ipaddress, json, re, sys
from urllib.parse import unquote
APART = re.compile(r'(?<![\\w.:%-])(?<!\\w/)[0-9A-Fa-f.:]+(?![\\w.:%-])', re.ASCII)
def is_address(text):
    try: ipaddress.ip_address(text)
    except ValueError: return False
    return True
def problems(text, found):
    start = 0
    for address in found:
        if not is_address(address): yield ['no address', address]
        apart = re.compile(r'(?<![^\\W_])' + re.escape(address) + r'(?![^\\W_])', re.ASCII)
        at = apart.search(text, start)
        if at is not None: start = at.end()
        elif apart.search(unquote(text)) is None: yield ['not in the text', address]
    missing = collections.Counter(filter(is_address, APART.findall(text))) - collections.Counter(found)
    if missing: yield ['missed', list(missing)]
cases = json.load(sys.stdin)
wrong = [[text, found, problem] for text, found in cases for problem in problems(text, found)]
apart = sum(is_address(word) for text, _ in cases for word in APART.findall(text))
json.dump({'wrong': wrong, 'apart': apart}, sys.stdout)
`

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.oneof(fc.ipV4(), fc.ipV6()) },
  { weight: 4, arbitrary: fc.constantFrom(...' ,;"\'[](){}=<>|\t') },
  fc.constantFrom(...'/%-_.:x0é', '😀', '::', ':443', '/24', '%eth0', '::ffff:', 'Chrome/'),
  fc.constantFrom('1.2.3', '999.1.1.1', '01.2.3.4', '12:30:00', 'aa:bb:cc:dd:ee:ff', 'ff', 'ip'),
  fc.string({ maxLength: 3 }),
)
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

describe('findAddresses', () => {
  it('finds the addresses in any text that Python reads as such, and nothing else', (t) => {
    const texts = fc.sample(text, { numRuns: TEXTS, seed: SEED })
    const cases = texts.map((one) => [one, findAddresses(one)] as const)
    const found = cases.reduce((sum, [, addresses]) => sum + addresses.length, 0)
    const { stdout, stderr } = spawnSync('python3', ['-c', COMPARE], {
      input: JSON.stringify(cases),
      encoding: 'utf8',
      maxBuffer: 1e8,
    })
    assert.equal(stderr, '')
    const { wrong, apart } = JSON.parse(stdout)
    t.diagnostic(`${found} addresses in ${TEXTS} texts, ${apart} of them apart`)
    assert.deepEqual(wrong.slice(0, 5), [])
    assert.ok(found >= apart && apart > TEXTS / 4)
  })
})
