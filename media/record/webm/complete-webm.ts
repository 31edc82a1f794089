import { type FileHandle, open } from 'node:fs/promises'
import { Id, readHead, unsigned } from './ebml.ts'
import {
  type ReadWebmHeader,
  readWebmHeader,
  TrackNumber,
  webmHeader,
  webmHeaderBytes,
} from './webm-header.ts'
import { type Cue, cuesElement, minCueMs, packetMs } from './webm-muxer.ts'

/** Maximum length of a cluster that is read, in bytes. */
const maxClusterBytes = 64_000_000
/** Maximum length of the head of an element in bytes. */
const maxHeadBytes = 12

/** Whole clusters of a file. */
interface Clusters {
  /** Offset behind the last one. */
  readonly end: number
  readonly durationMs: number
  readonly cues: readonly Cue[]
}

/**
 * Completes a WebM file that a crash has interrupted: cuts it after its last whole cluster, appends its cues,
 * and writes its duration. A file that is complete already stays as it is. Returns the length of the file; 0
 * if it has no cluster.
 */
export const completeWebm = async (handle: FileHandle, size: number): Promise<number> => {
  const facts = readWebmHeader(await read(handle, 0, webmHeaderBytes))
  if (!facts) return 0
  if (facts.durationMs !== undefined) return size
  const { end, durationMs, cues } = await readClusters(handle, size, facts)
  if (end === webmHeaderBytes) return 0
  await handle.truncate(end)
  const tail = cues.length > 0 ? cuesElement(cues) : Buffer.alloc(0)
  await handle.write(tail, 0, tail.length, end)
  const bytes = end + tail.length
  const complete = { durationMs, bytes, ...(cues.length > 0 && { cuesAt: end }) }
  const { durationMs: _, ...tracks } = facts
  await handle.write(webmHeader({ ...tracks, end: complete }), 0, webmHeaderBytes, 0)
  return bytes
}

/** Whether the first bytes of a file are those of a WebM file. */
export const isWebm = (start: Buffer): boolean => start.length >= 4 && start.readUInt32BE(0) === Id.ebml

/** Returns the duration of a complete WebM file, in ms; 0 if it has none, or is no such file. */
export const webmDurationMs = async (path: string): Promise<number> => {
  const handle = await open(path, 'r')
  try {
    const facts = readWebmHeader(await read(handle, 0, webmHeaderBytes))
    return Math.round(facts?.durationMs ?? 0)
  } finally {
    await handle.close()
  }
}

const readClusters = async (handle: FileHandle, size: number, facts: ReadWebmHeader): Promise<Clusters> => {
  const track = facts.video ? TrackNumber.video : TrackNumber.audio
  const cues: Cue[] = []
  let end = webmHeaderBytes
  let durationMs = 0
  for (;;) {
    const head = readHead(await read(handle, end, maxHeadBytes), 0)
    if (head?.id !== Id.cluster || end + head.end > size || head.end > maxClusterBytes) break
    const blocks = readBlocks(await read(handle, end + head.start, head.end - head.start))
    for (const block of blocks)
      durationMs = Math.max(durationMs, block.atMs + (block.track === TrackNumber.audio ? packetMs : 0))
    const key = blocks.find((block) => block.track === track && block.isKey)
    const last = cues.at(-1)
    if (key && (!last || key.atMs - last.atMs >= minCueMs))
      cues.push({ atMs: key.atMs, track, clusterAt: end })
    end += head.end
  }
  return { end, durationMs, cues }
}

interface ReadBlock {
  readonly track: number
  readonly atMs: number
  readonly isKey: boolean
}

/** Returns the blocks of a cluster. Ends at a malformed element. */
const readBlocks = (content: Buffer): readonly ReadBlock[] => {
  const blocks: ReadBlock[] = []
  let from = 0
  for (let at = 0; at < content.length; ) {
    const head = readHead(content, at)
    if (!head || head.end > content.length) break
    if (head.id === Id.timestamp) from = unsigned(content, head.start, head.end)
    if (head.id === Id.simpleBlock && head.end - head.start >= 4)
      blocks.push({
        track: content[head.start]! & 0x7f,
        atMs: from + content.readInt16BE(head.start + 1),
        isKey: (content[head.start + 3]! & 0x80) !== 0,
      })
    at = head.end
  }
  return blocks
}

/** Reads bytes from `at` on; fewer at the end of the file. */
const read = async (handle: FileHandle, at: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await handle.read(bytes, 0, length, at)
  return bytes.subarray(0, bytesRead)
}
