import { parts } from './schema-parts.ts'

const { integer, list, text } = parts

/** List of codecs, by their names in SDP; the order is that of preference. */
export const codecs = (description: string, value?: readonly string[]) => ({
  ...list(description, { ...text('A codec.'), enum: ['PCMU', 'PCMA', 'G722', 'opus', 'L16'] }, value),
  minItems: 1,
})

/** Packet duration. */
export const ptime = {
  ...integer(
    'Packet duration in ms that we ask for (a=ptime), and send where nothing else is asked for; in steps of 10.',
    10,
    60,
    20,
  ),
  multipleOf: 10,
}
