import { packetMs } from '../codecs/codec-info.ts'
import type { Codecs } from '../codecs/types.ts'
import type { AudioCodec, FarEnd, PcmRate } from '../types.ts'
import { clockRate, isG711 } from './packet-duration.ts'
import { Packetizer } from './packetizer.ts'
import { framesPerSecond } from './rate-adapter.ts'

/** Rate of the Opus encoder's input, unless the audio has 48 kHz: sufficient for phones and speech. */
const wideRate = 16_000

/** 20 ms of silence in Opus, for encoders that produce no packet for silence. */
export const opusSilence = Buffer.of(0xf8, 0xff, 0xfe)

const silence: Readonly<Record<PcmRate, Int16Array>> = {
  8000: new Int16Array(8000 / framesPerSecond),
  16000: new Int16Array(16_000 / framesPerSecond),
  48000: new Int16Array(48_000 / framesPerSecond),
}

/** Returns 20 ms of silence at `rate`. Shared: must not be modified. */
export function silentFrame(rate: PcmRate): Int16Array {
  return silence[rate]
}

/** Returns the rate of an encoder's input for audio of `rate`; default 16 kHz. */
export function encodedRate(codec: AudioCodec, rate: PcmRate = wideRate): PcmRate {
  if (codec === 'opus') return Math.max(rate, wideRate) as PcmRate
  return isG711(codec) ? 8000 : 16_000
}

/** Whether one encoder serves both far ends. */
export function sameEncoding(a: FarEnd, b: FarEnd): boolean {
  return (
    a.codec === b.codec &&
    a.ptime === b.ptime &&
    a.opus?.fec === b.opus?.fec &&
    a.opus?.dtx === b.opus?.dtx &&
    a.opus?.bitrate === b.opus?.bitrate &&
    a.opus?.maxPlaybackRate === b.opus?.maxPlaybackRate &&
    a.opus?.cbr === b.opus?.cbr
  )
}

/** Returns the packet duration that a far end requests, in ms; undefined for any. */
export function wantedMs({ codec, ptime }: FarEnd): number | undefined {
  return ptime !== undefined && ptime >= 10 && ptime <= 60 && ptime % 10 === 0
    ? packetMs(codec, ptime)
    : undefined
}

/**
 * Returns the name of the encoding that `far` can share with others of the same name. Undefined if it cannot:
 * its packets are not of 20 ms, or some are omitted (DTX).
 */
export function sharedFormat(far: FarEnd): string | undefined {
  const { codec, opus = {} } = far
  if ((wantedMs(far) ?? 20) !== 20 || opus.dtx) return undefined
  if (codec !== 'opus') return codec
  const { fec = false, cbr = false, bitrate, maxPlaybackRate } = opus
  return `opus ${fec} ${cbr} ${bitrate} ${maxPlaybackRate}`
}

/** Returns a packetizer from frames at `rate`, an {@link encodedRate}, to packets for `far`. */
export function packetizerFor(codecs: Codecs, far: FarEnd, rate: PcmRate): Packetizer {
  const { codec, opus } = far
  const encoder = codecs.encoder(codec, {
    ptimeMs: wantedMs(far) ?? 20,
    ...(codec === 'opus' && { sampleRate: rate }),
    ...(opus && { opus }),
  })
  return new Packetizer(encoder, clockRate(codec))
}
