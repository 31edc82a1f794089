import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { isUuid } from '../directory/model/uuid.ts'

/**
 * Returns the id of this gateway among those that share a store, from a file that is created on first use. A
 * copy of a data folder must not contain the file. Throws an Error that names the file if the file cannot be
 * created or read, or holds no id.
 */
export const readOrMakeNodeId = (file: string): string => {
  try {
    const id = read(file) ?? make(file)
    if (isUuid(id)) return id
  } catch (error) {
    throw new Error(`${file} cannot be used: ${(error as Error).message}`, { cause: error })
  }
  throw new Error(`${file} does not hold the id of a gateway; remove it to have a new one made.`)
}

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const make = (file: string): string => {
  const id = randomUUID()
  writeFileSync(file, `${id}\n`, { mode: 0o600, flag: 'wx' })
  return id
}
