/** Hashes of prebuilt workers that may be used: what is downloaded from a release page is run with all rights of the gateway. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Hashes by the name of the archive: SHA-256, hexadecimal. */
export type Pins = Readonly<Record<string, string>>

/** The pins of this repository. A new version of mediasoup needs new ones: docs/operations.md says how they are made. */
export const readPins = (): Pins =>
  JSON.parse(readFileSync(new URL('./pins.json', import.meta.url), 'utf8')) as Pins

/** Environment variable that permits an archive without a pin, with the value `yes`. */
export const unpinnedVariable = 'TRUNKLINE_WORKER_UNPINNED'

/** Throws an Error that says why an archive may not be used: another hash than its pin, or no pin at all. */
export const checkPin = (
  name: string,
  archive: Uint8Array,
  pins: Pins,
  env: NodeJS.ProcessEnv = process.env,
): void => {
  const found = createHash('sha256').update(archive).digest('hex')
  const pinned = Object.hasOwn(pins, name) ? pins[name] : undefined
  if (pinned === found) return
  if (pinned !== undefined) throw new Error(`${name} has the SHA-256 ${found}, not ${pinned}`)
  if (env[unpinnedVariable] === 'yes') return
  throw new Error(`${name} (SHA-256 ${found}) has no pin; ${unpinnedVariable}=yes would take it all the same`)
}
