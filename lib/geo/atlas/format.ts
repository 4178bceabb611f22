import * as v from 'valibot'

/**
 * The file of an atlas: sections of numbers and bytes, each at a multiple of four bytes, then a
 * table of contents as JSON, then its length in the last four bytes. Numbers have the byte order of
 * the processor, since the file is read on the machine that made it.
 */

/**
 * `index`: the number of the first network (32 bits) for each of the 65,536 upper halves of an
 * address, and for the end. `lows`: for each network, the lower half of its first address (16 bits).
 * `refs`: for each network, the numbers of its place and its owner (32 bits each; 0: none).
 */
export const SECTIONS = ['index', 'refs', 'places', 'owners', 'lows', 'text'] as const
export type Section = (typeof SECTIONS)[number]

/** The 32-bit words of a place: the extent of its city's JSON in `text`, and numbers of parts. */
export const PLACE = {
  textStart: 0,
  textLength: 1,
  country: 2,
  region: 3,
  timezone: 4,
  rating: 5,
  words: 6,
} as const

/** The 32-bit words of a network owner. `text` holds its JSON. */
export const OWNER = { textStart: 0, textLength: 1, sources: 2, words: 3 } as const

const Sources = v.array(v.string())
const Extent = v.tuple([v.number(), v.number()])

/** The table of contents, with the parts that places and owners share, numbered from 1. */
export const Contents = v.strictObject({
  /** The start of each section and its length, in bytes. */
  sections: v.strictObject(v.entriesFromList(SECTIONS, Extent)),
  countries: v.array(
    v.strictObject({
      /** Absent if only the continent is known. */
      code: v.optional(v.string()),
      country: v.string(),
      countryWithEmblems: v.string(),
    }),
  ),
  regions: v.array(v.string()),
  timezones: v.array(v.strictObject({ name: v.string(), source: v.string() })),
  ratings: v.array(
    v.strictObject({
      level: v.picklist([1, 2, 3, 4]),
      confidence: v.optional(v.number()),
      measured: v.optional(
        v.strictObject({
          country: v.number(),
          region: v.optional(v.number()),
          city: v.optional(v.number()),
        }),
      ),
      sources: Sources,
    }),
  ),
  ownerSources: v.array(Sources),
})
export type Contents = v.InferOutput<typeof Contents>
