/**
 * Reads WebM files for tests: a reader of its own, which shares nothing with the writer. Throws at anything
 * that a strict reader would reject.
 */

/** Block of a {@link ReadWebm}. */
export interface WebmBlock {
  readonly track: number
  readonly atMs: number
  readonly isKey: boolean
  readonly data: string
}

/** Content of a file. */
export interface ReadWebm {
  /** Codec by track number. */
  readonly tracks: Readonly<Record<number, string>>
  readonly durationMs: number | undefined
  readonly blocks: readonly WebmBlock[]
  /** Time of each cluster, and the number of its blocks. */
  readonly clusters: readonly { readonly atMs: number; readonly blocks: number }[]
  /** Times of the cues, each of which names a cluster with a key frame at that time. */
  readonly cues: readonly number[]
  /** Bytes after the last whole element. */
  readonly rest: number
}

interface Element {
  readonly id: string
  readonly at: number
  readonly content: Buffer
}

const unknown = (1n << 56n) - 1n

/** Splits bytes into elements. An element that is cut off ends the list, if that is permitted. */
const split = (bytes: Buffer, mayBeCut = false): { elements: Element[]; rest: number } => {
  const elements: Element[] = []
  let at = 0
  while (at < bytes.length) {
    const idLength = Math.clz32(bytes[at]!) - 23
    const sizeAt = at + idLength
    const sizeLength = sizeAt < bytes.length ? Math.clz32(bytes[sizeAt]!) - 23 : 9
    const start = sizeAt + sizeLength
    if (idLength > 4 || sizeLength > 8 || start > bytes.length) break
    let size = BigInt(bytes[sizeAt]! & (0xff >> sizeLength))
    for (const byte of bytes.subarray(sizeAt + 1, start)) size = (size << 8n) | BigInt(byte)
    const end = sizeLength === 8 && size === unknown ? bytes.length : start + Number(size)
    if (end > bytes.length) break
    elements.push({ id: bytes.toString('hex', at, sizeAt), at, content: bytes.subarray(start, end) })
    at = end
  }
  if (at < bytes.length && !mayBeCut) throw new Error(`an element is cut off at ${at} of ${bytes.length}`)
  return { elements, rest: bytes.length - at }
}

const only = (elements: readonly Element[], id: string): Buffer => {
  const found = elements.filter((each) => each.id === id)
  if (found.length !== 1) throw new Error(`one ${id} expected, found ${found.length}`)
  return found[0]!.content
}

const number = (bytes: Buffer): number => Number(BigInt(`0x${bytes.toString('hex') || '0'}`))

const blocksOf = (cluster: Element): { atMs: number; blocks: WebmBlock[] } => {
  const { elements } = split(cluster.content)
  const atMs = number(only(elements, 'e7'))
  const blocks = elements
    .filter(({ id }) => id === 'a3')
    .map(({ content }) => ({
      track: content[0]! - 0x80,
      atMs: atMs + content.readInt16BE(1),
      isKey: (content[3]! & 0x80) !== 0,
      data: content.toString('latin1', 4),
    }))
  return { atMs, blocks }
}

/** Reads a whole file, or the beginning of one. */
export const readWebm = (bytes: Buffer, mayBeCut = false): ReadWebm => {
  const top = split(bytes).elements
  if (top.map(({ id }) => id).join() !== '1a45dfa3,18538067') throw new Error('EBML and one segment expected')
  if (only(split(top[0]!.content).elements, '4282').toString() !== 'webm') throw new Error('webm expected')
  const segment = top[1]!.content
  const { elements, rest } = split(segment, mayBeCut)
  const tracks: Record<number, string> = {}
  for (const { content } of split(only(elements, '1654ae6b')).elements) {
    const entry = split(content).elements
    tracks[number(only(entry, 'd7'))] = only(entry, '86').toString()
  }
  const info = split(only(elements, '1549a966')).elements
  if (number(only(info, '2ad7b1')) !== 1e6) throw new Error('times in ms expected')
  const clusters = elements.filter(({ id }) => id === '1f43b675')
  const read = new Map(clusters.map((cluster) => [cluster.at, blocksOf(cluster)]))
  return {
    tracks,
    durationMs: info.find(({ id }) => id === '4489')?.content.readDoubleBE(0),
    blocks: [...read.values()].flatMap(({ blocks }) => blocks),
    clusters: [...read.values()].map(({ atMs, blocks }) => ({ atMs, blocks: blocks.length })),
    cues: cuesOf(elements, read),
    rest,
  }
}

const cuesOf = (
  elements: readonly Element[],
  clusters: ReadonlyMap<number, { blocks: readonly WebmBlock[] }>,
): number[] => {
  const cues = elements.find(({ id }) => id === '1c53bb6b')
  const seek = elements.find(({ id }) => id === '114d9b74')
  if (!cues !== !seek) throw new Error('cues without a seek head, or the reverse')
  if (!cues || !seek) return []
  const entry = split(only(split(seek.content).elements, '4dbb')).elements
  if (number(only(entry, '53ac')) !== cues.at) throw new Error('the seek head does not name the cues')
  return split(cues.content).elements.map(({ content }) => {
    const point = split(content).elements
    const atMs = number(only(point, 'b3'))
    const place = split(only(point, 'b7')).elements
    const cluster = clusters.get(number(only(place, 'f1')))
    const track = number(only(place, 'f7'))
    if (!cluster?.blocks.some((block) => block.track === track && block.isKey && block.atMs === atMs))
      throw new Error(`the cue of ${atMs} ms names no key frame`)
    return atMs
  })
}
