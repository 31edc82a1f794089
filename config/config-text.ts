import { readFileSync, statSync } from 'node:fs'
import { ConfigInvalid, type Place } from './faults.ts'

/** Maximum size of a configuration file, in bytes. */
export const maxConfigSize = 16 << 20

/**
 * Reads the text of a configuration file. Throws {@link ConfigInvalid} for a file that cannot be read, is no
 * text in UTF-8, or is larger than {@link maxConfigSize}.
 */
export const readConfigText = (file: string): string => {
  const bytes = readBytes(file)
  if (bytes.length > maxConfigSize)
    throw faultyFile(file, `is larger than ${maxConfigSize >> 20} MiB`, 'file-too-large')
  if (/^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2)))
    throw faultyFile(file, 'is written in UTF-16', 'not-utf8', { hint: 'save it as UTF-8' })
  const text = bytes.toString('utf8')
  const wrong = firstDifference(bytes, text)
  if (wrong !== undefined)
    throw faultyFile(file, 'has a byte that is not UTF-8', 'not-utf8', {
      hint: 'save it as UTF-8',
      ...placeAt(bytes.toString('utf8', 0, wrong)),
    })
  const nul = text.indexOf('\0')
  if (nul !== -1) {
    const place = placeAt(text.slice(0, nul))
    throw faultyFile(file, 'has a NUL byte: it is no text file, or it is damaged', 'nul-byte', place)
  }
  return text
}

/** Returns the reason for which a file or folder cannot be opened, as the end of a sentence. */
export const readFailure = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return `cannot be read: ${reasons[code ?? ''] ?? message}`
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its name is too long',
  EMFILE: 'too many files are open',
}

const readBytes = (file: string): Buffer => {
  try {
    // A read of a folder fails with EISDIR, but only after an open of it.
    if (statSync(file).size > maxConfigSize) return Buffer.alloc(maxConfigSize + 1)
    return readFileSync(file)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const hint = 'name another file, or write one by `trunkline init`'
    throw faultyFile(file, readFailure(error), 'file-unreadable', isMissing ? { hint } : {})
  }
}

const faultyFile = (
  file: string,
  message: string,
  code: string,
  more: Partial<Place> & { readonly hint?: string } = {},
): ConfigInvalid =>
  new ConfigInvalid([
    { severity: 'error', file, line: 1, column: 1, length: 1, path: '', message, code, ...more },
  ])

/** Returns the offset of the first byte that is not UTF-8. */
const firstDifference = (bytes: Buffer, text: string): number | undefined => {
  const again = Buffer.from(text)
  if (again.equals(bytes)) return undefined
  const at = bytes.findIndex((byte, index) => byte !== again[index])
  return at === -1 ? undefined : at
}

const placeAt = (before: string): Place => {
  const lines = before.split('\n')
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}
