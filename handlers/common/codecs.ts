import type { CodecName } from '../verbs.ts'

const names: readonly CodecName[] = ['PCMU', 'PCMA', 'G722', 'opus', 'L16']

/** Reads a comma-separated list of codecs, ignoring case. Keeps its order and drops unknown codecs. */
export const readCodecs = (text: string): readonly CodecName[] => {
  const wanted = text.split(',').map((word) => word.trim().toLowerCase())
  const known = wanted.flatMap((word) => names.find((name) => name.toLowerCase() === word) ?? [])
  return [...new Set(known)]
}
