import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import table from '../../../lib/geo/place/countries.json' with { type: 'json' }
import { continentName, findCountry, flagEmoji } from '../../../lib/geo/place/countries.ts'

const codes = Object.keys(table.countries)
const unions = Object.entries(table.unions)
const unknown = ['', 'ZZ', 'us', 'USA', 'A1', '__proto__', 'constructor', 'toString', 'ＵＳ', '🇺🇸']

const UNION_SIZES = {
  ...{ EU: 27, EEA: 30, EFTA: 4, BENELUX: 3, EAEU: 5 },
  ...{ AU: 55, AES: 3, AMU: 5, CEMAC: 6, COMESA: 21, EAC: 8, ECOWAS: 12, SACU: 5, SADC: 16 },
  ...{ UEMOA: 8, AL: 22, GCC: 6, ASEAN: 11, SAARC: 8 },
  ...{ CAN: 4, CARICOM: 15, MERCOSUR: 5, OECS: 7, SICA: 8 },
}

describe('the table of countries', () => {
  it('holds the 249 codes of ISO 3166-1 and Kosovo, each well-formed and named', () => {
    assert.equal(codes.length, 250)
    assert.ok(codes.includes('XK'))
    for (const code of codes) {
      assert.match(code, /^[A-Z]{2}$/)
      assert.ok(findCountry(code)?.name, code)
    }
  })

  it('names only timezones that the runtime knows', () => {
    const zones = codes.flatMap((code) => findCountry(code)?.timezone ?? [])
    assert.equal(zones.length, 216)
    for (const timeZone of zones) {
      assert.doesNotThrow(() => new Intl.DateTimeFormat('en-US', { timeZone }))
    }
  })

  it('has as many members in each union as the union has', () => {
    const sizes = Object.fromEntries(unions.map(([code, union]) => [code, union.members.length]))
    assert.deepEqual(sizes, UNION_SIZES)
  })

  it('lists each member of a union once, by a known code', () => {
    for (const [code, { members }] of unions) {
      assert.equal(new Set(members).size, members.length, code)
      for (const member of members) assert.ok(findCountry(member), `${code}: ${member}`)
    }
  })
})

describe('findCountry', () => {
  it('returns name, continent, timezone, unions and flag', () => {
    assert.deepEqual(findCountry('AT'), {
      code: 'AT',
      name: 'Austria',
      continent: { code: 'EU', name: 'Europe' },
      timezone: 'Europe/Vienna',
      unions: ['EU', 'EEA'],
      flag: '🇦🇹',
    })
  })

  it('returns no timezone for a country with several', () => {
    assert.equal('timezone' in (findCountry('US') ?? {}), false)
  })

  it('leaves the United Kingdom and overseas countries of members out of the European Union', () => {
    for (const code of ['GB', 'GI', 'GL', 'NC', 'PF', 'AW', 'CW', 'FO']) {
      assert.deepEqual(findCountry(code)?.unions, [], code)
    }
  })

  it('has the outermost regions and Åland in the European Union and the EEA', () => {
    for (const code of ['RE', 'MQ', 'GP', 'GF', 'YT', 'MF', 'AX']) {
      assert.deepEqual(findCountry(code)?.unions, ['EU', 'EEA'], code)
    }
  })

  it('leaves the suspended Venezuela out of Mercosur and has Bolivia in it', () => {
    assert.deepEqual(findCountry('VE')?.unions, [])
    assert.deepEqual(findCountry('BO')?.unions, ['CAN', 'MERCOSUR'])
  })

  it('returns frozen objects', () => {
    const country = findCountry('DE')
    assert.equal(country, findCountry('DE'))
    for (const part of [country, country?.continent, country?.unions]) {
      assert.ok(Object.isFrozen(part))
    }
  })

  it('returns undefined for unknown codes', () => {
    for (const code of unknown) assert.equal(findCountry(code), undefined, code)
  })
})

describe('continentName', () => {
  it('knows the seven continents and nothing else', () => {
    assert.equal(Object.keys(table.continents).length, 7)
    assert.equal(continentName('OC'), 'Oceania')
    for (const code of unknown) assert.equal(continentName(code), undefined, code)
  })
})

describe('flagEmoji', () => {
  it('writes two letters as regional indicators, whatever their case', () => {
    assert.equal(flagEmoji('XK'), '🇽🇰')
    assert.equal(flagEmoji('gb'), '🇬🇧')
  })

  it('returns undefined for anything but two ASCII letters', () => {
    const others = ['\u017fs', '\u212ax', 'ＵＳ', '🇺🇸', 'US\n', '__proto__']
    for (const code of ['', 'A', 'USA', 'A1', ...others]) {
      assert.equal(flagEmoji(code), undefined, code)
    }
  })
})
