import { parts } from './builders.ts'

const { integer, list, text } = parts

/** Schema of a list of codecs, by their names in SDP, in order of preference. */
export const codecs = (description: string, value?: readonly string[]) => ({
  ...list(description, { ...text('Codec.'), enum: ['PCMU', 'PCMA', 'G722', 'opus', 'L16'] }, value),
  minItems: 1,
})

/** Schema of the packet duration. */
export const ptime = {
  ...integer(
    'Packet duration in ms to request (a=ptime), and to send unless the far side requests another one; in steps of 10.',
    10,
    60,
    20,
  ),
  multipleOf: 10,
}
