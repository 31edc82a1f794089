import { oggPages } from '../sound/ogg.ts'

const headerBytes = 27
const capture = 'OggS'

/**
 * Reads the packets of an Ogg stream of Opus (RFC 7845) from chunks of any length. Each packet must end on
 * the page on which it begins.
 */
export class OggOpusReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Returns the packets that are complete with this chunk, without headers. Throws for another format. */
  push(chunk: Buffer): readonly Uint8Array[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const end = endOfPages(bytes)
    this.#rest = bytes.subarray(end)
    const pages = end === 0 ? [] : [...oggPages(bytes.subarray(0, end))]
    return pages.flatMap(({ packets }) => packets.filter((packet) => packet.length > 0 && !isHeader(packet)))
  }
}

/** Returns the offset behind the last complete page. A page has at most 65,307 bytes. */
const endOfPages = (bytes: Buffer): number => {
  let at = 0
  while (bytes.length - at >= headerBytes) {
    if (bytes.toString('latin1', at, at + 4) !== capture) throw new Error('Ogg: a page expected')
    const start = at + headerBytes + bytes[at + 26]!
    if (start > bytes.length) break
    const end = bytes.subarray(at + headerBytes, start).reduce((sum, length) => sum + length, start)
    if (end > bytes.length) break
    at = end
  }
  return at
}

const isHeader = (packet: Uint8Array): boolean => {
  const magic = Buffer.from(packet.buffer, packet.byteOffset, Math.min(8, packet.length)).toString('latin1')
  return magic === 'OpusHead' || magic === 'OpusTags'
}
