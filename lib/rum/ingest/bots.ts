import { isbot } from 'isbot'
import { BoundedCache } from '../../parts/bounded-cache.ts'
import { ownText } from '../../parts/own-text.ts'

/** Longer user agents are cut: no browser's is that long, and patterns take longer for longer texts. */
const MAX_LENGTH = 1_000

/** Checking a user agent takes several microseconds, and a site's visitors share a few hundred. */
const answers = new BoundedCache<string, boolean>(2_000)

/** Whether the user agent names a bot, a monitor, or a program such as curl. */
export function isBot(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false
  const text = userAgent.slice(0, MAX_LENGTH)
  const known = answers.get(text)
  if (known !== undefined) return known
  const answer = namesBot(text)
  answers.set(ownText(text), answer)
  return answer
}

function namesBot(userAgent: string): boolean {
  if (PLAIN.test(userAgent)) return false
  const text = userAgent.replaceAll(DEVICE, '(Linux; Android 10; K)')
  return isbot(text) || UNLISTED.test(text)
}

/**
 * Browsers that hide what they are, and what the fetch of runtimes says, with which a server may send on the
 * beacons of its pages. The package takes all short texts that name no browser for bots.
 */
const PLAIN =
  /^(?:Mozilla\/5\.0(?: \((?:X11|Windows|Macintosh|Linux)\))?|node|undici|(?:Bun|Deno)\/[\d.]+)$/

/**
 * What Android browsers and apps say about the phone, whose name may be Robot or Spider: comments, also with
 * a model in parentheses inside, and the fields of Facebook's apps. Bots say `compatible` in theirs, a URL, or their version.
 */
const DEVICE =
  /\((?=[^()]*(?:Android|dpi;))(?![^()]*(?:compatible|https?:|@|(?<!cu)bot[-\w]*\/\d))[^()]*(?:\([^()]*\)[^()]*)*\)|\[FB[^\]]*\]/g

/** Monitors and crawlers that the package does not know. */
const UNLISTED = /NewRelicPinger|\(compatible; Yandex\/|GTmetrix|Checkly/i
