import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utcOffset } from '../../../lib/geo/answer/timezones.ts'
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

  /** By zone.tab of 2026f; moment-timezone adds zones with data of others. */
  const several = {
    AR: 'Buenos_Aires Cordoba Salta Jujuy Tucuman Catamarca La_Rioja San_Juan Mendoza San_Luis Rio_Gallegos Ushuaia'
      .split(' ')
      .map((name) => `America/Argentina/${name}`),
    CL: ['America/Santiago', 'America/Coyhaique', 'America/Punta_Arenas', 'Pacific/Easter'],
    CN: ['Asia/Shanghai', 'Asia/Urumqi'],
    CY: ['Asia/Nicosia', 'Asia/Famagusta'],
    DE: ['Europe/Berlin', 'Europe/Busingen'],
    ES: ['Europe/Madrid', 'Africa/Ceuta', 'Atlantic/Canary'],
    KZ: 'Almaty Qyzylorda Qostanay Aqtobe Aqtau Atyrau Oral'
      .split(' ')
      .map((name) => `Asia/${name}`),
    MH: ['Pacific/Majuro', 'Pacific/Kwajalein'],
    MY: ['Asia/Kuala_Lumpur', 'Asia/Kuching'],
    PS: ['Asia/Gaza', 'Asia/Hebron'],
    UA: ['Europe/Kyiv', 'Europe/Simferopol'],
    UZ: ['Asia/Tashkent', 'Asia/Samarkand'],
  }
  const from2026 = (zone: string) =>
    Array.from({ length: 12 * 9 }, (_, month) => utcOffset(zone, Date.UTC(2026, month, 15))).join()

  for (const [country, zones] of Object.entries(several)) {
    const areAlike = new Set(zones.map(from2026)).size === 1
    it(`says of ${country} that its timezones ${areAlike ? 'have' : 'do not have'} the same time`, () =>
      assert.equal(zones.includes(findCountry(country)?.commonTime ?? ''), areAlike))
  }

  it('says so only of countries with several', () => {
    const alike = codes.filter((code) => findCountry(code)?.commonTime !== undefined)
    assert.deepEqual(alike, ['AR', 'CY', 'DE', 'KZ', 'MH', 'MY', 'PS', 'UZ'])
    for (const code of alike) assert.equal(findCountry(code)?.timezone, undefined)
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
