import type { CodecName } from '../verbs.ts'

const names: readonly CodecName[] = ['PCMU', 'PCMA', 'G722', 'opus', 'L16']

/** The codecs of a list with commas, in its order, whatever the case of their letters. What nobody here speaks is left out. */
export const readCodecs = (text: string): readonly CodecName[] => {
  const wanted = text.split(',').map((word) => word.trim().toLowerCase())
  const known = wanted.flatMap((word) => names.find((name) => name.toLowerCase() === word) ?? [])
  return [...new Set(known)]
}
