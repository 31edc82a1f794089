import { aLaw, checkLayout, faultOf, float, type Layout, muLaw, pcm, readSamples } from './sample-layout.ts'
import type { Wave } from './wave.ts'

/**
 * Decodes an AIFF, or an AIFF-C with PCM (also little-endian: `sowt`), floats, A-law or mu-law. Mono, or
 * stereo, which is mixed down. Throws a {@link SoundError} that names the chunk and the expected value, or
 * says that the audio is longer than `maxSeconds`.
 */
export const readAiff = (bytes: Uint8Array, maxSeconds: number): Wave => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { common, sound } = chunksOf(view)
  const { frames, layout } = layoutOf(common)
  if (sound.byteLength < 8) throw fault(`a SSND chunk of 8 bytes or more expected, found ${sound.byteLength}`)
  const offset = 8 + sound.getUint32(0)
  const length = frames * layout.channels * layout.bytes
  const there = Math.max(0, sound.byteLength - offset)
  if (length === 0) throw fault('it has no samples')
  if (length > there) throw fault(`the COMM chunk says ${length} bytes of samples, ${there} are there`)
  const data = new DataView(sound.buffer, sound.byteOffset + offset, length)
  return readSamples('AIFF', data, layout, maxSeconds)
}

const fault = (text: string) => faultOf('AIFF', text)

const tag = (view: DataView, at: number): string =>
  String.fromCharCode(...Array.from({ length: 4 }, (_, i) => view.getUint8(at + i)))

/** Finds the two required chunks, in either order. Ignores others. */
const chunksOf = (view: DataView): { readonly common: DataView; readonly sound: DataView } => {
  if (view.byteLength < 12) throw fault(`a header of 12 bytes expected, found ${view.byteLength} bytes`)
  if (tag(view, 0) !== 'FORM' || !/^AIF[FC]$/.test(tag(view, 8)))
    throw fault('FORM and AIFF or AIFC expected at the start')
  const found = new Map<string, DataView>()
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const name = tag(view, at)
    const length = view.getUint32(at + 4)
    const there = view.byteLength - at - 8
    if (length > there) throw fault(`the ${name.trim()} chunk says ${length} bytes, ${there} are there`)
    const matters = name === 'COMM' || name === 'SSND'
    if (matters && !found.has(name))
      found.set(name, new DataView(view.buffer, view.byteOffset + at + 8, length))
    at += 8 + length + (length % 2)
  }
  const common = found.get('COMM')
  const sound = found.get('SSND')
  if (!common || !sound) throw fault(`a ${common ? 'SSND' : 'COMM'} chunk expected`)
  return { common, sound }
}

const layoutOf = (common: DataView): { readonly frames: number; readonly layout: Layout } => {
  if (common.byteLength < 18)
    throw fault(`a COMM chunk of 18 bytes or more expected, found ${common.byteLength}`)
  const channels = common.getUint16(0)
  const bits = common.getUint16(6)
  // A fractional rate would need a separate resampling filter for each sample.
  const rate = Math.round(extended(common, 8))
  checkLayout('AIFF', { channels, rate })
  // AIFF-C has the coding after the rate; AIFF has none.
  const coding = common.byteLength >= 22 ? tag(common, 18) : 'NONE'
  return { frames: common.getUint32(2), layout: { channels, rate, ...codingOf(coding, bits) } }
}

const codingOf = (coding: string, bits: number): Pick<Layout, 'bytes' | 'read'> => {
  const name = coding.toLowerCase()
  switch (name) {
    case 'ulaw':
      return { bytes: 1, read: muLaw }
    case 'alaw':
      return { bytes: 1, read: aLaw }
    case 'fl32':
      return { bytes: 4, read: float(4, false) }
    case 'fl64':
      return { bytes: 8, read: float(8, false) }
    case 'none':
    case 'twos':
    case 'sowt': {
      // A sample occupies the upper bits of the required number of bytes.
      const bytes = Math.ceil(bits / 8)
      const read = pcm(bytes, name === 'sowt')
      if (!read) throw fault(`1 to 32 bits per sample expected, found ${bits}`)
      return { bytes, read }
    }
    default:
      throw fault(`PCM, floats, A-law or mu-law expected, found ${JSON.stringify(coding)}`)
  }
}

/** Reads an 80-bit number (IEEE 754, extended) in the range of sampling rates; NaN for any other. */
const extended = (view: DataView, at: number): number => {
  const exponent = view.getUint16(at) - 16_383
  if (exponent < 0 || exponent > 31) return Number.NaN
  return (view.getUint32(at + 2) * 2 ** 32 + view.getUint32(at + 6)) * 2 ** (exponent - 63)
}
