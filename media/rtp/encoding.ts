import { packetMs } from '../codecs/codec-info.ts'
import type { Codecs } from '../codecs/types.ts'
import type { AudioCodec, FarEnd, PcmRate } from '../types.ts'
import { clockRate, isG711 } from './packet-duration.ts'
import { Packetizer } from './packetizer.ts'
import { framesPerSecond } from './rate-adapter.ts'

/** Rate of the Opus encoder's input: sufficient for all decoded, mixed and spoken audio. */
const opusRate = 16_000

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

/** Returns the rate of an encoder's input. */
export function encodedRate(codec: AudioCodec): PcmRate {
  if (codec === 'opus') return opusRate
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

/** Returns a packetizer from frames at {@link encodedRate} to packets for `far`. */
export function packetizerFor(codecs: Codecs, far: FarEnd): Packetizer {
  const { codec, opus } = far
  const encoder = codecs.encoder(codec, {
    ptimeMs: wantedMs(far) ?? 20,
    ...(codec === 'opus' && { sampleRate: opusRate }),
    ...(opus && { opus }),
  })
  return new Packetizer(encoder, clockRate(codec))
}
