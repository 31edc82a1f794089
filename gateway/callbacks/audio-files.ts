import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../core/clock.ts'
import { unreachable } from './answers.ts'
import type { CustomerHttp } from './customer-http.ts'
import { rawTypeOf, withHeader } from './raw-audio.ts'

/** Options of {@link AudioFiles}. */
export interface AudioFilesOptions {
  readonly http: Pick<CustomerHttp, 'bytes'>
  /** Folder for `file:` URLs; absent: no such URL is permitted. */
  readonly folder?: string
  /** Maximum size of a file in bytes. */
  readonly maxBytes: number
  /** Maximum time in ms of a fetch, and of the wait for an earlier one. */
  readonly timeoutMs: number
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Fetches the audio of documents: `http:` and `https:` from customers' servers, `file:` from one folder. If
 * several requests for a URL arrive together, the first runs alone, so that the others find its response in
 * the cache. Rejects with a `TrunklineError` (`document_unreachable`).
 */
export class AudioFiles {
  #options: AudioFilesOptions
  /** First of the simultaneous requests for each URL; these promises never reject. */
  readonly #first = new Map<string, Promise<void>>()

  constructor(options: AudioFilesOptions) {
    this.#options = options
  }

  /** Applies new settings to later fetches. */
  change({ folder, ...settings }: Pick<AudioFilesOptions, 'folder' | 'maxBytes' | 'timeoutMs'>): void {
    const { folder: _before, ...options } = this.#options
    this.#options = { ...options, ...settings, ...(folder !== undefined && { folder }) }
  }

  /** Number of URLs that are being fetched. */
  get running(): number {
    return this.#first.size
  }

  /** Fetches a file; `signal` aborts. */
  async bytes(url: string, signal?: AbortSignal): Promise<{ readonly bytes: Uint8Array }> {
    if (/^file:/i.test(url)) return { bytes: await this.#file(url) }
    const first = this.#first.get(url)
    const { timeoutMs, clock } = this.#options
    if (!first) return this.#goFirst(url, signal)
    const since = clock.now()
    // The first request started earlier with the same time limit, so it ends before this one times out.
    await Promise.race([first, fired(signal)])
    const leftMs = timeoutMs - (clock.now() - since)
    if (leftMs <= 0) throw unreachable(url, 'timeout', `It took longer than ${timeoutMs} ms.`)
    return this.#fetch(url, signal, leftMs)
  }

  async #goFirst(url: string, signal: AbortSignal | undefined): Promise<{ readonly bytes: Uint8Array }> {
    const fetched = this.#fetch(url, signal, this.#options.timeoutMs)
    const end = () => {
      this.#first.delete(url)
    }
    this.#first.set(url, fetched.then(end, end))
    return fetched
  }

  async #fetch(
    url: string,
    signal: AbortSignal | undefined,
    timeoutMs: number,
  ): Promise<{ readonly bytes: Uint8Array }> {
    const { http, maxBytes } = this.#options
    const fetched = await http.bytes(url, { maxBytes, timeoutMs, ...(signal && { signal }) })
    return { bytes: withHeader(fetched.bytes, fetched.contentType) }
  }

  async #file(url: string): Promise<Uint8Array> {
    const { folder, maxBytes } = this.#options
    if (folder === undefined) {
      throw unreachable(url, 'folder', 'No folder for sounds is configured (media.sounds.folder).')
    }
    const path = pathOf(url, folder)
    const inside = path === undefined ? undefined : await insideOf(path, folder)
    if (inside === undefined)
      throw unreachable(url, 'file', 'There is no such file in the folder for sounds.')
    const bytes = await readUpTo(inside, maxBytes)
    if (bytes === 'missing') throw unreachable(url, 'file', 'It cannot be read as a file.')
    if (bytes === 'too-large') throw unreachable(url, 'too-large', `It is larger than ${maxBytes} bytes.`)
    return withHeader(bytes, rawTypeOf(inside))
  }
}

const fired = (signal: AbortSignal | undefined): Promise<void> => {
  const { promise, resolve: settle } = Promise.withResolvers<void>()
  if (signal?.aborted) settle()
  signal?.addEventListener('abort', () => settle(), { once: true })
  return promise
}

/**
 * Returns the path of a URL. `file:///…` is an absolute path; other URLs are relative to the folder. Returns
 * undefined if the URL contains no valid path.
 */
const pathOf = (url: string, folder: string): string | undefined => {
  try {
    const path = url.slice('file:'.length)
    return path.startsWith('//') ? fileURLToPath(url) : resolve(folder, decodeURIComponent(path))
  } catch {
    return undefined
  }
}

/**
 * Returns the real path with all links resolved. Returns undefined if the file does not exist or is outside
 * the folder.
 */
const insideOf = async (path: string, folder: string): Promise<string | undefined> => {
  try {
    const [real, root] = await Promise.all([realpath(path), realpath(folder)])
    return real.startsWith(root.endsWith(sep) ? root : root + sep) ? real : undefined
  } catch {
    return undefined
  }
}

const readUpTo = async (path: string, maxBytes: number): Promise<Uint8Array | 'missing' | 'too-large'> => {
  try {
    // The flags reject a link created after the check, and avoid waiting for a named pipe.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const facts = await file.stat()
      if (!facts.isFile()) return 'missing'
      return facts.size > maxBytes ? 'too-large' : await file.readFile()
    } finally {
      await file.close()
    }
  } catch {
    return 'missing'
  }
}
