/*
 * Loads all code of the server and its threads, so that Node.js compiles it and keeps the result: see
 * lib/parts/process/compile-first.ts.
 */
import '../../lib/access/sign-in/embedded-auth.ts'
import '../../lib/billing/stripe/events.ts'
import '../../lib/billing/stripe/stripe-sdk.ts'
import '../../lib/contact/cap-notice-mail.ts'
import '../../lib/contact/inquiry-mail.ts'
import '../../lib/contact/proof-of-work.ts'
import '../../lib/parts/mail.ts'
import { markCompiled } from '../../lib/parts/process/compile-first.ts'
import '../../lib/services/auth-thread.ts'
import '../../lib/storage/reader-thread.ts'
import '../../lib/storage/writer-thread.ts'
import '../../main/node-process.ts'
import '../../main/start.ts'

markCompiled()
