import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { splitCityName } from '../../../lib/geo/place/city-name.ts'

describe('splitCityName', () => {
  const split = [
    ['Amsterdam (Centrum)', 'Amsterdam', 'Centrum'],
    ['Seongnam-si (Buljeong-ro)', 'Seongnam-si', 'Buljeong-ro'],
    ['Zurich (Zurich (Kreis 11) / Oerlikon)', 'Zurich', 'Zurich (Kreis 11) / Oerlikon'],
    ['Frankfurt (Oder) (Kliestow)', 'Frankfurt (Oder)', 'Kliestow'],
    ['Paris (13th Arrondissement)', 'Paris', '13th Arrondissement'],
    ['Ota-ku (1 Chome)', 'Ota-ku', '1 Chome'],
    ['Wien (Österreich)', 'Wien', 'Österreich'],
  ] as const
  for (const [name, city, district] of split) {
    it(`finds the district in ${name}`, () => {
      assert.deepEqual(splitCityName(name), { city, district })
    })
  }

  const whole = [
    'London',
    'Frankfurt (Oder)',
    'Kempten (Allgäu)',
    'Gronau (Westf.)',
    'Buchs (SG)',
    'Freiburg (Elbe) Flecken',
    'Middlebury (village)',
    '(Centrum)',
    'a)',
    '()',
    ')',
    '',
  ]
  for (const name of whole) {
    it(`leaves the name whole: ${name}`, () => {
      assert.deepEqual(splitCityName(name), { city: name })
    })
  }
})
