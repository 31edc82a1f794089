import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'

/** Maximum size of the content of an event as JSON, in bytes. */
const maxBytes = 16_384

const callersWords: ReadonlySet<AgentTranscriptEvent['type']> = new Set([
  'partial_result',
  'speech_detect',
  'transparent_barge',
])

/** Whether an event has words of the caller, which replace the partial result before it. */
export const replacesPartial = ({ type }: Pick<AgentTranscriptEvent, 'type'>): boolean =>
  callersWords.has(type)

/** Whether an event is too large for pages and applications: more than 16 KiB as JSON. */
export const isTooLarge = ({ params }: Pick<AgentTranscriptEvent, 'params'>): boolean =>
  Buffer.byteLength(JSON.stringify(params)) > maxBytes
