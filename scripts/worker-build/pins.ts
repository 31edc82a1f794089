/** Hashes of permitted prebuilt workers, because a downloaded worker runs with all rights of the gateway. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** SHA-256 hashes in hexadecimal, by the name of the archive. */
export type Pins = Readonly<Record<string, string>>

/** Reads the hashes of this repository. `docs/operations.md` explains the update for a new mediasoup. */
export const readPins = (): Pins =>
  JSON.parse(readFileSync(new URL('./pins.json', import.meta.url), 'utf8')) as Pins

/** Environment variable that permits an archive without a pin, with the value `yes`. */
export const unpinnedVariable = 'TRUNKLINE_WORKER_UNPINNED'

/** Checks the hash of an archive. Throws if it differs from the pinned one, or if the archive has none. */
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
  throw new Error(`${name} (SHA-256 ${found}) has no pin; ${unpinnedVariable}=yes permits it`)
}
