import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { countries } from 'countries-list'
import { listCountries } from '../../../lib/geo/place/countries.ts'
import { countryFactsJson } from '../../../lib/geo/place/country-facts.ts'
import { CITY_RECORDS, geoFiles, mmdbBytes } from '../../support/geo-files.ts'
import { makeApp } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { answerTo, LONDON, lookUp, lookUpAll, overCap } from './look-up.ts'

const german = (code: string, en: string, de: string) => ({ iso_code: code, names: { de, en } })
const GERMANY = german('DE', 'Germany', 'Deutschland')

/** As in MaxMind's documents: https://dev.maxmind.com/geoip/docs/databases/city-and-country */
const RECORDS = {
  ...CITY_RECORDS,
  '20.0.0.0/25': {
    country: GERMANY,
    registered_country: german('FR', 'France', 'Frankreich'),
    represented_country: { ...german('US', 'United States', 'USA'), type: 'military' },
  },
  '20.0.0.128/25': { country: GERMANY, registered_country: german('UK', 'UK', 'UK') },
  '21.0.0.0/24': { country: GERMANY, registered_country: german('EU', 'Europe', 'Europa') },
}
const file = join(tempFolder(), 'Countries.mmdb')
writeFileSync(file, mmdbBytes(RECORDS))

const app = sharedScene({ env: { MERIDIAN_GEO: `${file},${geoFiles().dbip}` } }, async () => {
  await ada.key()
})
const ada = app.user('ada')

describe('include=registered', () => {
  const locationOf = async (ip: string, query = 'include=registered') =>
    (await lookUp(ada, `${ip}?${query}`)).result.location

  it('adds what the file states, and nothing else', async () => {
    const { result } = await lookUp(ada, `${LONDON}?include=registered`)
    const usual = (await lookUp(ada)).result
    const { registeredCountry, ...location } = result.location ?? assert.fail()
    assert.deepEqual(registeredCountry, { code: 'US', name: 'United States' })
    assert.deepEqual(answerTo(usual.meta?.requestId, { ...result, location }), usual)
  })

  it('adds the country that the users represent, and its kind', async () => {
    assert.deepEqual(await locationOf('20.0.0.1'), {
      ...(await locationOf('20.0.0.1', '')),
      registeredCountry: { code: 'FR', name: 'France' },
      representedCountry: { code: 'US', name: 'United States', type: 'military' },
    })
  })

  it('maps codes that ISO has replaced, and leaves out those of no country', async () => {
    const mapped = await locationOf('20.0.0.129')
    assert.deepEqual(mapped?.registeredCountry, { code: 'GB', name: 'United Kingdom' })
    assert.equal((await locationOf('21.0.0.1'))?.registeredCountry, undefined)
    assert.equal((await locationOf('5.0.0.1'))?.registeredCountry, undefined)
    assert.equal(await locationOf('10.0.0.1'), undefined)
  })

  it('translates the names', async () => {
    const location = await locationOf('20.0.0.1', 'include=registered&lang=de')
    assert.equal(location?.registeredCountry?.name, 'Frankreich')
    assert.equal(location?.representedCountry?.name, 'USA')
  })

  it('narrows network.prefix to the record, whose neighbour may state another', async () => {
    const { network } = (await lookUp(ada, '20.0.0.1?include=registered,network')).result
    assert.equal(network?.prefix, '20.0.0.0/25')
  })

  it('can be named among the fields', async () => {
    const { body } = await ada.lookUp('20.0.0.1?fields=location.representedCountry.type')
    assert.deepEqual(body, { location: { representedCountry: { type: 'military' } } })
  })

  it('adds nothing over the cap', async () => {
    const { result } = await lookUp(await overCap(app), `${LONDON}?include=registered,country`)
    assert.deepEqual(result.location, {
      continent: { code: 'EU', name: 'Europe' },
      country: { code: 'GB', name: 'United Kingdom' },
    })
  })

  it('is named in Not-Included if no file states any', async () => {
    await using other = await makeApp({ env: { MERIDIAN_GEO: geoFiles().ipinfo } })
    const bob = other.user('bob')
    await bob.key()
    const { notIncluded } = await lookUp(bob, `${LONDON}?include=registered,country`)
    assert.equal(notIncluded, 'registered')
    const asked = await lookUp(ada, `${LONDON}?include=registered,country`)
    assert.equal(asked.notIncluded, null)
  })
})

describe('include=country', () => {
  const BRITAIN = { capital: 'London', currency: 'GBP', callingCode: '+44', languages: ['en'] }

  it('adds facts to the country, and nothing else', async () => {
    const { result } = await lookUp(ada, `${LONDON}?include=country`)
    const usual = (await lookUp(ada)).result
    assert.deepEqual(result.location?.country, { ...usual.location?.country, ...BRITAIN })
    const location = { ...result.location, country: usual.location?.country }
    assert.deepEqual(answerTo(usual.meta?.requestId, { ...result, location }), usual)
  })

  it('adds them at every precision that has a country', async () => {
    const countryOf = async (ip: string) =>
      (await lookUp(ada, `${ip}?include=country`)).result.location?.country
    assert.equal((await countryOf('17.0.0.1'))?.currency, 'USD')
    assert.equal((await countryOf('8.8.8.8'))?.capital, 'Washington D.C.')
    assert.equal(await countryOf('6.0.0.1'), undefined)
    assert.equal(await countryOf('10.0.0.1'), undefined)
  })

  it('goes with other parts and with other languages of names', async () => {
    const { result } = await lookUp(ada, `${LONDON}?include=country,registered,network&lang=de`)
    assert.partialDeepStrictEqual(result.location, {
      country: { name: 'Vereinigtes Königreich', ...BRITAIN },
      registeredCountry: { code: 'US' },
    })
  })

  it('can be named among the fields, which the country alone does not ask for', async () => {
    const { body } = await ada.lookUp(`${LONDON}?fields=location.country.callingCode`)
    assert.deepEqual(body, { location: { country: { callingCode: '+44' } } })
    const whole = (await ada.lookUp(`${LONDON}?fields=location.country`)).text
    assert.doesNotMatch(whole, /currency/)
  })

  it('is in each result of a batch, also as CSV', async () => {
    const body = { ips: [LONDON, '20.0.0.1'], include: ['country', 'registered'] }
    const found = await lookUpAll(ada, body)
    assert.deepEqual(
      found.map(({ location }) => location?.country?.capital),
      ['London', 'Berlin'],
    )
    const { text } = await ada.send('POST', '/v1/ip/batch', body, {
      headers: { accept: 'text/csv' },
    })
    const [header = '', , second = ''] = text.split('\r\n')
    const columns = 'registered_country,represented_country,capital,currency,calling_code,languages'
    assert.ok(header.endsWith(`,${columns},degraded,error`), header)
    assert.ok(second.endsWith(`,FR,US,Berlin,EUR,+49,"[""de""]",false,`), second)
  })
})

describe('the facts about a country', () => {
  const factsOf = (code: string) => JSON.parse(`{${countryFactsJson(code)}}`)

  it('are known of all countries, but for uninhabited ones', () => {
    const lacking = listCountries().flatMap(({ code }) =>
      ['capital', 'currency', 'callingCode', 'languages']
        .filter((name) => !(name in factsOf(code)))
        .map((name) => `${code} ${name}`),
    )
    assert.deepEqual(lacking.sort(), [
      ...['AQ capital', 'AQ currency', 'AQ languages', 'BV capital', 'HM capital', 'MO capital'],
      'UM capital',
    ])
    assert.deepEqual(factsOf('QQ'), {})
  })

  it('have codes that the runtime knows', () => {
    const currencies = new Set(Intl.supportedValuesOf('currency'))
    for (const { code } of listCountries()) {
      const { currency = 'EUR', languages = [], callingCode } = factsOf(code)
      assert.ok(currencies.has(currency), `${code} ${currency}`)
      assert.match(callingCode, /^\+[1-9]\d{0,6}$/)
      for (const tag of languages) assert.ok(new Intl.Locale(tag).language)
    }
  })

  // Changes of law that lists often miss; European Central Bank, CBCS, Reserve Bank of Zimbabwe, ITU
  const changed = { BG: 'EUR', HR: 'EUR', CW: 'XCG', SX: 'XCG', SL: 'SLE', ZW: 'ZWG', MR: 'MRU' }
  for (const [code, currency] of Object.entries(changed)) {
    it(`follow the law: ${code} pays with ${currency}`, () =>
      assert.equal(factsOf(code).currency, currency))
  }

  it('correct the package where it is still wrong', () => {
    assert.deepEqual(factsOf('XK').callingCode, '+383')
    assert.deepEqual(factsOf('DO').callingCode, '+1')
    assert.deepEqual(factsOf('CW').languages, ['nl', 'pap', 'en'])
    // If one of these fails, the package has mended it: remove our correction.
    for (const code of ['DO', 'PR', 'XK'] as const) assert.ok(countries[code].phone.length > 1)
    for (const code of ['AW', 'CW'] as const) assert.ok(countries[code].languages.includes('pa'))
  })
})
