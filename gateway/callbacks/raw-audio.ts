import type { G711 } from '../../media/codecs/g711.ts'
import { wavHeader } from '../../media/codecs/wav-header.ts'

const types: readonly (readonly [type: RegExp, coding: G711])[] = [
  // RFC 2046 section 4.2: audio/basic is raw, 8,000 Hz, one channel.
  [/^audio\/(basic|pcmu|(x-)?(mulaw|ulaw))\s*(;|$)/i, 'PCMU'],
  [/^audio\/(pcma|(x-)?alaw)\s*(;|$)/i, 'PCMA'],
]

/** Returns whether audio starts with a file header; some servers send WAV files as `audio/basic`. */
const hasHeader = (bytes: Uint8Array): boolean =>
  /^(RIFF|FORM|\.snd|OggS|ID3)/.test(Buffer.from(bytes.subarray(0, 4)).toString('latin1'))

/**
 * Adds a WAV header (8,000 Hz, one channel) to raw G.711, which only the content type or the file name
 * identifies. Other audio is unchanged.
 */
export const withHeader = (bytes: Uint8Array, contentType: string): Uint8Array => {
  const coding = types.find(([type]) => type.test(contentType.trim()))?.[1]
  return coding && bytes.length > 0 && !hasHeader(bytes)
    ? Buffer.concat([wavHeader({ coding, rate: 8000 }, bytes.length), bytes])
    : bytes
}

/** Returns the type of raw audio by a file's name; empty for other names. */
export const rawTypeOf = (path: string): string => {
  const law = /\.(ulaw|ul|mulaw|alaw|al)$/i.exec(path)?.[1]?.toLowerCase()
  return law ? `audio/${law.startsWith('a') ? 'alaw' : 'ulaw'}` : ''
}
