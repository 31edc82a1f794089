import { choice, integer, list } from './builders.ts'
import type { FileValue } from './values.ts'

const codec = choice('Codec.', ['PCMU', 'PCMA', 'G722', 'opus', 'L16'])

/** Codec, by its name in SDP. */
export type CodecName = FileValue<typeof codec>

/** Default codecs of a SIP endpoint, of the file and of the API, in order of preference. */
export const defaultEndpointCodecs = ['PCMU', 'PCMA', 'G722', 'opus'] as const satisfies readonly CodecName[]

/** Schema of a list of codecs, by their names in SDP, in order of preference. */
export const codecs = <const D extends readonly CodecName[] | undefined = undefined>(
  description: string,
  value?: D,
) => ({ ...list(description, codec, value as D), minItems: 1 }) as const

/** Schema of the packet duration. */
export const ptime = {
  ...integer(
    'Duration of RTP packets in ms, a multiple of 10. The gateway requests it (a=ptime), and sends it ' +
      'unless the far side requests another one.',
    10,
    60,
    20,
  ),
  multipleOf: 10,
}
