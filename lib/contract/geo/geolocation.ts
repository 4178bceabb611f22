import * as v from 'valibot'
import { flag, RequestId, strictObject, text } from '../common.ts'
import { fieldPaths, selectionOf } from '../field-paths.ts'
import { INCLUDES } from './includes.ts'
import { isTraditionalChinese, languageOf } from './language-tag.ts'
import { Privacy } from './privacy.ts'

const Confidence = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const MeasuredShare = v.pipe(v.number(), v.minValue(0.01), v.maxValue(0.99))

const countryEntries = {
  code: text('ISO 3166-1 alpha-2'),
  name: text('In the language of the request, by default English'),
}

const OtherCountry = v.strictObject(countryEntries)

export const Location = strictObject('Location of an address, as precise as the databases allow', {
  continent: strictObject('The continent', {
    code: text('Two letters, such as EU'),
    name: text('In the language of the request, by default English'),
  }),
  country: v.optional(
    strictObject('The country, from precision `country` on', {
      ...countryEntries,
      flag: v.optional(text('Flag emoji')),
      unions: v.optional(
        v.pipe(
          v.array(v.string()),
          v.minLength(1),
          v.description('Political and economic unions that the country belongs to'),
        ),
      ),
      capital: v.optional(text('Only if included, as the next three: its name in English')),
      currency: v.optional(
        v.pipe(v.string(), v.regex(/^[A-Z]{3}$/), v.description('The main one, ISO 4217')),
      ),
      callingCode: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^\+\d{1,7}$/),
          v.description('For telephones, with a plus sign'),
        ),
      ),
      languages: v.optional(
        v.pipe(
          v.array(v.string()),
          v.minLength(1),
          v.description('Tags of the languages spoken there, BCP 47, most used first'),
        ),
      ),
    }),
  ),
  region: v.optional(
    strictObject('The first-level subdivision, from precision `region` on', {
      code: text('ISO 3166-2'),
      name: text('In the language of the request, by default English'),
    }),
  ),
  district: v.optional(text('Second-level subdivision')),
  city: v.optional(text('Name of the city, at precision `city`')),
  postalCode: v.optional(text('Postal code, perhaps only its first part')),
  coordinates: v.optional(
    strictObject('About where the address is, at precision `city`', {
      latitude: v.pipe(
        v.number(),
        v.minValue(-90),
        v.maxValue(90),
        v.description('Degrees, WGS 84; north is positive'),
      ),
      longitude: v.pipe(
        v.number(),
        v.minValue(-180),
        v.maxValue(180),
        v.description('Degrees, WGS 84; east is positive'),
      ),
      accuracyRadius: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Miles')),
      ),
    }),
  ),
  timezone: v.optional(text('IANA timezone name')),
  utcOffset: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[+-]\d{2}:\d{2}$/),
      v.description('Offset from UTC at the time of the answer, such as -07:00'),
    ),
  ),
  geoConfidence: v.optional(
    v.pipe(
      Confidence,
      v.description(
        'Agreement of two providers. 1.0: a second provider confirms the location; 0: they name different countries. Answers of precision `country` have none, also if providers disagree',
      ),
    ),
  ),
  confidence: v.optional(
    v.pipe(
      v.strictObject({
        country: v.pipe(MeasuredShare, v.description('Share of right countries')),
        region: v.optional(v.pipe(MeasuredShare, v.description('Share of right regions'))),
        city: v.optional(
          v.pipe(MeasuredShare, v.description('Share of cities within 50 km (31 miles)')),
        ),
      }),
      v.description(
        'Only if included: how often answers that rest on the same data were right, measured on what network operators publish',
      ),
    ),
  ),
  registeredCountry: v.optional(
    v.pipe(
      OtherCountry,
      v.description('Only if included: where the network is registered, if a database states it'),
    ),
  ),
  representedCountry: v.optional(
    v.pipe(
      v.strictObject({
        ...countryEntries,
        type: v.optional(text('Such as military')),
      }),
      v.description(
        'Only if included: the country that the users represent, as of an army abroad, if a database states it',
      ),
    ),
  ),
})

/** What the server lacks of what the caller asked for: the absence of a field may also mean that it has no value. */
export const NotIncluded = v.pipe(
  v.array(v.picklist(INCLUDES)),
  v.minLength(1),
  v.description('Of what was to be included, what this server has no data for'),
)

export const PRECISIONS = ['city', 'region', 'country', 'continent', 'none'] as const
export type Precision = (typeof PRECISIONS)[number]

const sourcesOf = (description: string) =>
  v.optional(v.pipe(v.array(v.string()), v.description(description)))

export const GeolocationResult = strictObject(
  'The location and network of an address; fields without a value are omitted',
  {
    query: v.optional(
      strictObject('What was looked up', {
        type: text('The kind of query: ip'),
        value: text('The address in canonical form (RFC 5952)'),
        ipVersion: v.pipe(v.picklist([4, 6]), v.integer(), v.description('4 or 6')),
      }),
    ),
    hostname: v.optional(
      text(
        'Only if included, and if the instance asks the DNS: the name that the owner of the address gives it (PTR), not verified',
      ),
    ),
    location: v.optional(Location),
    network: v.optional(
      strictObject('The autonomous system that announces the address', {
        asn: v.optional(
          v.pipe(v.string(), v.regex(/^AS\d+$/), v.description('Its number, such as AS20712')),
        ),
        organization: v.optional(text('Name of its operator')),
        domain: v.optional(text('Domain of its operator, if a database states it')),
        prefix: v.optional(
          text(
            'Only if included: the block around the address for which everything but `query`, `hostname` and `meta` is the same, in CIDR form',
          ),
        ),
      }),
    ),
    privacy: v.optional(Privacy),
    sources: v.optional(
      strictObject('The providers that contributed, by kind of data', {
        geo: sourcesOf('Of `location`'),
        asn: sourcesOf('Of `network`'),
        tz: sourcesOf('Of `location.timezone`'),
        privacy: sourcesOf('Of `privacy`, only with it'),
      }),
    ),
    meta: v.optional(
      strictObject('About the answer', {
        precision: v.optional(
          v.pipe(v.picklist(PRECISIONS), v.description('How precise the location is')),
        ),
        tier: v.optional(text('Plan of the caller')),
        requestId: v.optional(RequestId),
        degraded: v.optional(flag('Whether the result is reduced because the cap is exceeded')),
        notIncluded: v.optional(NotIncluded),
      }),
    ),
  },
)
export type GeolocationResult = v.InferOutput<typeof GeolocationResult>

/** The fields that a caller can select. */
export const FIELDS = fieldPaths(GeolocationResult).filter((name) => name !== 'meta.notIncluded')

/** The fields of results of a list: hostnames of many addresses would take too long. */
export const LIST_FIELDS = FIELDS.filter((name) => name !== 'hostname')

/** Languages of names in MaxMind's files. */
export const LANGUAGES = ['de', 'en', 'es', 'fr', 'ja', 'pt-BR', 'ru', 'zh-CN'] as const
export type Language = (typeof LANGUAGES)[number]

/** Stands for the language that the header Accept-Language asks for. */
const AUTO = 'auto'

export const Lang = v.pipe(
  v.unknown(),
  v.transform((tag) => (isAuto(tag) ? AUTO : toLanguage(tag))),
  v.picklist([...LANGUAGES, AUTO]),
  v.description(
    'Language of the names of continent, country, region and city; English where a name is not known in it. auto: by the header Accept-Language',
  ),
)

/**
 * The language that a tag names; other values as they are. Readers of traditional Chinese get English, as in CLDR, not
 * the simplified script: translators of Mozilla ask for this (mozilla/playdoh#100).
 */
export function toLanguage(tag: unknown): unknown {
  return isTraditionalChinese(tag) ? 'en' : languageOf(tag, LANGUAGES)
}

function isAuto(tag: unknown): boolean {
  return typeof tag === 'string' && tag.toLowerCase() === AUTO
}

export const SelectedResult = v.pipe(
  selectionOf(GeolocationResult),
  v.description('The requested fields of a GeolocationResult; fields without a value are omitted'),
)

export const located = {
  query: { type: 'ip', value: '81.2.69.160', ipVersion: 4 },
  location: {
    continent: { code: 'EU', name: 'Europe' },
    country: { code: 'GB', name: 'United Kingdom', flag: '🇬🇧' },
    region: { code: 'GB-ENG', name: 'England' },
    city: 'London',
    coordinates: { latitude: 51.5142, longitude: -0.0931, accuracyRadius: 6 },
    timezone: 'Europe/London',
    utcOffset: '+00:00',
    geoConfidence: 1,
  },
  network: { asn: 'AS20712', organization: 'Andrews & Arnold Ltd' },
  sources: { geo: ['maxmind', 'dbip'], asn: ['ip-location-db'], tz: ['maxmind'] },
  meta: {
    precision: 'city',
    tier: 'pro',
    requestId: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01',
    degraded: false,
  },
} as const satisfies GeolocationResult

export const unknown = {
  query: { type: 'ip', value: '10.0.0.1', ipVersion: 4 },
  meta: { ...located.meta, precision: 'none' },
} as const satisfies GeolocationResult
