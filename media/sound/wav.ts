import type { SoundError } from './errors.ts'
import {
  aLaw,
  checkLayout,
  faultOf,
  float,
  type Layout,
  muLaw,
  pcm,
  type ReadSample,
  readSamples,
} from './sample-layout.ts'
import type { Wave } from './wave.ts'

/**
 * Decodes a WAV: PCM of 8, 16, 24 and 32 bit, floats of 32 and 64 bit, A-law and mu-law, also as
 * WAVE_FORMAT_EXTENSIBLE. Mono, or stereo, which is mixed down. Throws a {@link SoundError} that names the
 * field and the expected value, or says that the audio is longer than `maxSeconds`.
 */
export const readWav = (bytes: Uint8Array, maxSeconds: number): Wave => {
  const { format, data } = chunksOf(bytes)
  const layout = layoutOf(format)
  if (data.byteLength === 0) throw fault('the data chunk is empty')
  return readSamples('WAV', data, layout, maxSeconds)
}

const fault = (text: string): SoundError => faultOf('WAV', text)

const tag = (view: DataView, at: number): string =>
  String.fromCharCode(...Array.from({ length: 4 }, (_, i) => view.getUint8(at + i)))

/** Finds the required chunks. Ignores others. */
const chunksOf = (bytes: Uint8Array): { readonly format: DataView; readonly data: DataView } => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.byteLength < 12) throw fault(`a header of 12 bytes expected, found ${view.byteLength} bytes`)
  if (tag(view, 0) !== 'RIFF' || tag(view, 8) !== 'WAVE') throw fault('RIFF and WAVE expected at the start')
  let format: DataView | undefined
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const name = tag(view, at)
    const chunk = chunkAt(view, at, name)
    if (name === 'fmt ') format = chunk
    if (name === 'data') {
      if (!format) throw fault('a fmt chunk before the data chunk expected')
      return { format, data: chunk }
    }
    at += 8 + chunk.byteLength + (chunk.byteLength % 2)
  }
  throw fault(format ? 'a data chunk expected' : 'a fmt chunk expected')
}

const chunkAt = (view: DataView, at: number, name: string): DataView => {
  const said = view.getUint32(at + 4, true)
  const there = view.byteLength - at - 8
  // Writers that do not know the length write all ones, or the maximum that some readers accept. The data
  // then extends to the end of the file.
  const length = name === 'data' && said >= 0x7fff_0000 ? there : said
  if (length > there) throw fault(`the ${name.trim()} chunk says ${length} bytes, ${there} are there`)
  return new DataView(view.buffer, view.byteOffset + at + 8, length)
}

const layoutOf = (format: DataView): Layout => {
  if (format.byteLength < 16)
    throw fault(`a fmt chunk of 16 bytes or more expected, found ${format.byteLength}`)
  const channels = format.getUint16(2, true)
  const rate = format.getUint32(4, true)
  const align = format.getUint16(12, true)
  const bits = format.getUint16(14, true)
  checkLayout('WAV', { channels, rate })
  const read = readerFor(codingOf(format), bits)
  if (align !== (channels * bits) / 8) {
    throw fault(`a block of ${(channels * bits) / 8} bytes expected, found ${align}`)
  }
  return { rate, channels, bytes: bits / 8, read }
}

/** Returns the number of the coding; for WAVE_FORMAT_EXTENSIBLE, the number in its GUID. */
const codingOf = (format: DataView): number => {
  const coding = format.getUint16(0, true)
  if (coding !== 0xfffe) return coding
  if (format.byteLength < 40)
    throw fault(`an extensible fmt chunk of 40 bytes expected, found ${format.byteLength}`)
  // The other 14 bytes of the GUID are the same for all numbered codings: 0000-0010-8000-00AA00389B71.
  const isNumbered = format.getUint32(28, true) === 0x0010_0000 && format.getUint32(32, true) === 0xaa00_0080
  if (!isNumbered) throw fault('a sub-format of the numbered codings expected')
  return format.getUint16(24, true)
}

// Readers by coding number and bits of a sample.
const readers: Readonly<Record<string, ReadSample | undefined>> = {
  '1/8': (view, at) => (view.getUint8(at) - 128) / 128,
  '1/16': pcm(2, true),
  '1/24': pcm(3, true),
  '1/32': pcm(4, true),
  '3/32': float(4, true),
  '3/64': float(8, true),
  '6/8': aLaw,
  '7/8': muLaw,
}

const readerFor = (coding: number, bits: number): ReadSample => {
  const reader = readers[`${coding}/${bits}`]
  if (reader) return reader
  if (coding === 1 || coding === 3 || coding === 6 || coding === 7) {
    throw fault(`format ${coding} with ${bits} bits per sample is not supported`)
  }
  const name = coding === 49 ? ' (GSM 06.10)' : ''
  throw fault(`format 1 (PCM), 3 (float), 6 (A-law) or 7 (mu-law) expected, found ${coding}${name}`)
}
