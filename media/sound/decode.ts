import type { PcmRate } from '../types.ts'
import { readAiff } from './aiff.ts'
import { SoundError } from './errors.ts'
import { toPrompt } from './resample.ts'
import { readWav } from './wav.ts'
import type { Wave } from './wave.ts'

/** Supported audio formats. */
export type AudioFormat = 'wav' | 'aiff' | 'mp3' | 'ogg'

/** Decodes audio, detected by content, to mono at `rate`. Rejects with a descriptive {@link SoundError}. */
export const decodeAudio = async (
  bytes: Uint8Array,
  rate: PcmRate,
  maxSeconds: number,
): Promise<Int16Array<SharedArrayBuffer>> => {
  const wave = await waveOf(bytes, rate, maxSeconds)
  return toPrompt(wave.samples, wave.rate, rate)
}

const waveOf = async (bytes: Uint8Array, rate: PcmRate, maxSeconds: number): Promise<Wave> => {
  // The decoders are large: each is loaded with the first file that needs it.
  switch (formatOf(bytes)) {
    case 'wav':
      return readWav(bytes, maxSeconds)
    case 'aiff':
      return readAiff(bytes, maxSeconds)
    case 'mp3':
      return (await import('./mp3.ts')).readMp3(bytes, maxSeconds)
    case 'ogg':
      return (await import('./ogg-opus.ts')).readOggOpus(bytes, rate, maxSeconds)
  }
}

/** Signatures of unsupported formats: offset, signature and name for error messages. */
const foreign: readonly (readonly [at: number, signature: string, name: string])[] = [
  [0, 'fLaC', 'FLAC'],
  [4, 'ftyp', 'MP4'],
  [0, '.snd', 'AU'],
  [0, '#!AMR', 'AMR'],
  [0, '\x1a\x45\xdf\xa3', 'WebM or Matroska'],
  [0, '\x30\x26\xb2\x75', 'Windows Media'],
  [0, 'RF64', 'RF64'],
  [0, '#EXTM3U', 'a playlist'],
  [0, '\x1f\x8b', 'gzip'],
  [0, 'PK\x03\x04', 'a ZIP archive'],
]

/**
 * Detects the format by the first bytes. Throws a {@link SoundError} for any other, with its name if known.
 */
export const formatOf = (bytes: Uint8Array): AudioFormat => {
  const head = Buffer.from(bytes.subarray(0, 64)).toString('latin1')
  if (head.startsWith('RIFF')) return 'wav'
  if (/^FORM.{4}AIF[FC]/s.test(head)) return 'aiff'
  if (head.startsWith('OggS')) return 'ogg'
  if (head.startsWith('ID3') || isMpegAudio(bytes)) return 'mp3'
  throw new SoundError(`Audio: WAV, AIFF, MP3 or Ogg with Opus expected, found ${nameOf(head, bytes)}`)
}

/**
 * Detects a frame header: eleven ones, then version and layer, each with one reserved value (ISO 11172-3
 * section 2.4.1.3).
 */
const isMpegAudio = ([first = 0, second = 0, third = 0]: Uint8Array): boolean =>
  first === 0xff &&
  second >> 5 === 7 &&
  (second & 0x18) !== 0x08 &&
  (second & 0x06) !== 0 &&
  third >> 4 !== 15

const nameOf = (head: string, [first = 0, second = 0]: Uint8Array): string => {
  if (head === '') return 'an empty file'
  const known = foreign.find(([at, signature]) => head.startsWith(signature, at))
  if (known) return known[2]
  // Starts like MPEG audio, with the layer value that is reserved there (ISO 13818-7 section 6.2).
  if (first === 0xff && (second & 0xf6) === 0xf0) return 'AAC'
  if (/^(\xef\xbb\xbf)?\s*[<{[]/.test(head)) return 'a text or a web page'
  return 'something else'
}
