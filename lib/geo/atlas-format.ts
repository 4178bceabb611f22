import * as v from 'valibot'

/**
 * The file of an atlas: sections of numbers and bytes, each at a multiple of four bytes, then a
 * table of contents as JSON and its length in the last four bytes. Numbers are as the processor
 * stores them, since the file is made on the machine that reads it.
 */

/** Raised when anything in the file changes its meaning, also the JSON of the parts of an answer. */
export const ATLAS_FORMAT = 1

/**
 * `index`: for each of the 65,536 values of the upper half of an address, and for the end, the
 * number of its first network, as 32-bit numbers. `lows`: the lower half of the first address of
 * each network, 16 bits. `refs`: the numbers of its place and its owner, 32 bits each; 0: none.
 */
export const SECTIONS = ['index', 'refs', 'places', 'owners', 'lows', 'text'] as const
export type Section = (typeof SECTIONS)[number]

/** A place in 32-bit numbers: text, its length, country, region, timezone, and how it was found. */
export const PLACE_WORDS = 6
/** An owner in 32-bit numbers: text, its length, and sources. */
export const OWNER_WORDS = 3

const Sources = v.array(v.string())
const Extent = v.tuple([v.number(), v.number()])

/** What stands in the table of contents; places and owners name by number what they share. */
export const Contents = v.strictObject({
  format: v.literal(ATLAS_FORMAT),
  /** Where each section begins, and its length in bytes. */
  sections: v.strictObject({
    index: Extent,
    refs: Extent,
    places: Extent,
    owners: Extent,
    lows: Extent,
    text: Extent,
  }),
  countries: v.array(v.strictObject({ country: v.string(), countryWithEmblems: v.string() })),
  regions: v.array(v.string()),
  timezones: v.array(v.strictObject({ name: v.string(), source: v.string() })),
  findings: v.array(
    v.strictObject({
      level: v.picklist([1, 2, 3, 4]),
      confidence: v.optional(v.number()),
      sources: Sources,
    }),
  ),
  ownerSources: v.array(Sources),
})
export type Contents = v.InferOutput<typeof Contents>
