import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const length = 32

/**
 * Reads the gateway's secret: 32 random bytes in a file that only its owner can read, created on first use.
 * It signs tokens and session states. Throws an error that names the file if it cannot be created or does not
 * hold a key.
 */
export const readOrMakeKey = (file: string): Uint8Array => {
  const found = read(file) ?? make(file) ?? read(file)
  if (!found || found.length !== length)
    throw new Error(`${file} does not hold a key of ${length} bytes; remove it to have a new one made.`)
  return new Uint8Array(found)
}

const read = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new Error(`The key file ${file} cannot be read: ${String(error)}`, { cause: error })
  }
}

/** Creates the file. Returns undefined if another process was faster. */
const make = (file: string): Buffer | undefined => {
  const key = randomBytes(length)
  try {
    writeFileSync(file, key, { mode: 0o600, flag: 'wx' })
    return key
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined
    throw new Error(`The key file ${file} cannot be created: ${String(error)}`, { cause: error })
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined
