/**
 * ITU-T G.711: PCMU (mu-law) and PCMA (A-law), by table. Linear samples are 16 bit, 8 kHz mono.
 * The 14 bits of mu-law and the 13 bits of A-law are the upper bits of the 16.
 */

/** The two laws, by their SDP names. */
export type G711 = 'PCMU' | 'PCMA'

/** Bias of mu-law in its 14-bit scale: makes every segment start at a power of two. */
const muBias = 33
const muClip = 0x1fff

function mulawByte(sample: number): number {
  const magnitude = Math.min(((sample < 0 ? ~sample : sample) >> 2) + muBias, muClip)
  const segment = 26 - Math.clz32(magnitude)
  const code = (segment << 4) | ((magnitude >> (segment + 1)) & 0x0f)
  return code ^ (sample < 0 ? 0x7f : 0xff)
}

function mulawSample(byte: number): number {
  const code = ~byte & 0x7f
  const magnitude = ((((code & 0x0f) << 1) + muBias) << (code >> 4)) - muBias
  return (byte & 0x80 ? magnitude : -magnitude) * 4
}

function alawByte(sample: number): number {
  const magnitude = (sample < 0 ? ~sample : sample) >> 4
  const segment = magnitude < 16 ? 0 : 28 - Math.clz32(magnitude)
  const step = segment < 2 ? magnitude : magnitude >> (segment - 1)
  // Every second bit is inverted on the line (G.711 section 3.3), so that silence is not a row of equal bits.
  return ((sample < 0 ? 0 : 0x80) | (segment << 4) | (step & 0x0f)) ^ 0x55
}

function alawSample(byte: number): number {
  const code = byte ^ 0x55
  const segment = (code >> 4) & 7
  const step = ((code & 0x0f) << 1) + 1
  const magnitude = segment === 0 ? step : (step + 32) << (segment - 1)
  return (code & 0x80 ? magnitude : -magnitude) * 8
}

/** `unused`: number of lower bits that the law ignores. Each thread makes the tables at its start. */
function encodeTable(encode: (sample: number) => number, unused: number): Uint8Array {
  // Indexed by the sample's 16 bits as an unsigned number, so that a lookup needs no offset.
  const table = new Uint8Array(0x10000)
  const step = 1 << unused
  for (let bits = 0; bits < table.length; bits += step)
    table.fill(encode((bits << 16) >> 16), bits, bits + step)
  return table
}

const encoders: Readonly<Record<G711, Uint8Array>> = {
  PCMU: encodeTable(mulawByte, 2),
  PCMA: encodeTable(alawByte, 4),
}

const decoders: Readonly<Record<G711, Int16Array>> = {
  PCMU: Int16Array.from({ length: 256 }, (_, byte) => mulawSample(byte)),
  PCMA: Int16Array.from({ length: 256 }, (_, byte) => alawSample(byte)),
}

/** Bytes that decode to silence. */
export const silenceByte: Readonly<Record<G711, number>> = { PCMU: 0xff, PCMA: 0xd5 }

/**
 * Encodes `count` samples of `from`, starting at `start`, into `to` at `at`. Samples past the end of `from`
 * count as silence.
 */
export function encodeInto(
  law: G711,
  from: Int16Array,
  start: number,
  count: number,
  to: Uint8Array,
  at: number,
): void {
  const table = encoders[law]
  for (let i = 0; i < count; i++) to[at + i] = table[(from[start + i] ?? 0) & 0xffff]!
}

/** Encodes samples into new bytes. */
export function encode(law: G711, samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length)
  encodeInto(law, samples, 0, samples.length, bytes, 0)
  return bytes
}

/** Decodes the bytes from `start` to `end` into `out`. Returns the number of samples. */
export function decodeInto(
  law: G711,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Int16Array,
): number {
  const table = decoders[law]
  for (let i = start; i < end; i++) out[i - start] = table[bytes[i]!]!
  return end - start
}

/** Decodes bytes into new samples. */
export function decode(law: G711, bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length)
  decodeInto(law, bytes, 0, bytes.length, samples)
  return samples
}

/**
 * Converts a step from mu-law to A-law by G.711 table 3; steps are counted from 0 at the zero crossing. The
 * table differs from decoding and encoding, so that a chain of both conversions changes as little as
 * possible.
 */
function mulawToAlawStep(step: number): number {
  if (step < 16) return step >> 1
  if (step < 32) return step - 8
  if (step < 36) return 24 + 2 * (step - 32)
  if (step < 48) return step - 4
  if (step < 49) return step - 3
  if (step < 64) return step - 2
  return step < 81 ? step - 1 : step
}

/** Converts a step from A-law to mu-law by G.711 table 4, counted in the same way. */
function alawToMulawStep(step: number): number {
  if (step < 8) return 2 * step + 1
  if (step < 24) return step + 8
  if (step < 32) return 32 + ((step - 24) >> 1)
  if (step < 44) return step + 4
  if (step < 48) return 48 + ((step - 44) >> 1)
  if (step < 63) return step + 2
  return step < 80 ? step + 1 : step
}

/** Conversion tables by source law. */
const conversions: Readonly<Record<G711, Uint8Array>> = {
  PCMU: Uint8Array.from({ length: 256 }, (_, byte) => {
    return ((byte & 0x80) | mulawToAlawStep(~byte & 0x7f)) ^ 0x55
  }),
  PCMA: Uint8Array.from({ length: 256 }, (_, byte) => {
    const code = byte ^ 0x55
    return (code & 0x80) | (alawToMulawStep(code & 0x7f) ^ 0x7f)
  }),
}

/** Converts the bytes from `start` to `end` (exclusive) from one law into the other, in place. */
export function convertInPlace(from: G711, bytes: Uint8Array, start: number, end: number): void {
  const table = conversions[from]
  for (let i = start; i < end; i++) bytes[i] = table[bytes[i]!]!
}
