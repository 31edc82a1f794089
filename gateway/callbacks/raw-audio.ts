/** Numbers of the codecs in a WAV file. */
const laws = { ulaw: 7, alaw: 6 } as const

const types: readonly (readonly [type: RegExp, law: keyof typeof laws])[] = [
  // RFC 2046 section 4.2: audio/basic is raw, 8,000 Hz, one channel.
  [/^audio\/(basic|pcmu|(x-)?(mulaw|ulaw))\s*(;|$)/i, 'ulaw'],
  [/^audio\/(pcma|(x-)?alaw)\s*(;|$)/i, 'alaw'],
]

/** Returns whether audio starts with a file header; some servers send WAV files as `audio/basic`. */
const hasHeader = (bytes: Uint8Array): boolean =>
  /^(RIFF|FORM|\.snd|OggS|ID3)/.test(Buffer.from(bytes.subarray(0, 4)).toString('latin1'))

/**
 * Adds a WAV header (8,000 Hz, one channel) to raw G.711, which only the content type or the file name
 * identifies. Other audio is unchanged.
 */
export const withHeader = (bytes: Uint8Array, contentType: string): Uint8Array => {
  const law = types.find(([type]) => type.test(contentType.trim()))?.[1]
  return law && bytes.length > 0 && !hasHeader(bytes)
    ? Buffer.concat([headerOf(laws[law], bytes.length), bytes])
    : bytes
}

/** Returns the type of raw audio by a file's name; empty for other names. */
export const rawTypeOf = (path: string): string => {
  const law = /\.(ulaw|ul|mulaw|alaw|al)$/i.exec(path)?.[1]?.toLowerCase()
  return law ? `audio/${law.startsWith('a') ? 'alaw' : 'ulaw'}` : ''
}

const headerOf = (coding: number, length: number): Buffer => {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(coding, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(8000, 24)
  header.writeUInt32LE(8000, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write('data', 36)
  header.writeUInt32LE(length, 40)
  return header
}
