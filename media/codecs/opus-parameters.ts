import type { OpusPreferences } from '../types.ts'

/**
 * Capabilities of the local decoder for `a=fmtp` (RFC 7587 section 6.1): packets of 10 ms and more, FEC,
 * mono.
 */
export const ownOpusParameters = 'minptime=10;useinbandfec=1;stereo=0;sprop-stereo=0'

/** Bitrates that RFC 7587 permits, in bits per second. */
const bitrates = { from: 6_000, to: 510_000 }

/**
 * Reads the `a=fmtp` value of Opus. Omits unsupported parameters (`stereo`, as all audio is mono) and values
 * out of range.
 */
export const readOpusParameters = (parameters: string): OpusPreferences => {
  const values = valuesOf(parameters)
  const number = (name: string, from: number, to: number): number | undefined => {
    const value = Number(values.get(name) ?? Number.NaN)
    return Number.isInteger(value) && value >= from && value <= to ? value : undefined
  }
  const flag = (name: string) => values.get(name) === '1'
  const bitrate = number('maxaveragebitrate', bitrates.from, bitrates.to)
  const maxPlaybackRate = number('maxplaybackrate', 8_000, 48_000)
  return {
    ...(flag('useinbandfec') && { fec: true }),
    ...(flag('usedtx') && { dtx: true }),
    ...(flag('cbr') && { cbr: true }),
    ...(bitrate !== undefined && { bitrate }),
    ...(maxPlaybackRate !== undefined && { maxPlaybackRate }),
  }
}

/** Returns the far end's minimum packet duration in ms (`minptime`); undefined if absent or out of range. */
export const minOpusPacketMs = (parameters: string): number | undefined => {
  const value = Number(valuesOf(parameters).get('minptime') ?? Number.NaN)
  return Number.isInteger(value) && value >= 3 && value <= 120 ? value : undefined
}

const valuesOf = (parameters: string): ReadonlyMap<string, string> =>
  new Map(
    parameters.split(';').map((each): [string, string] => {
      const [name = '', value = ''] = each.split('=', 2)
      return [name.trim().toLowerCase(), value.trim()]
    }),
  )
