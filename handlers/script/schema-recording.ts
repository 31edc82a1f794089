import { terminatorsPattern } from '../common/destinations.ts'
import { boolean, type MethodSpec, number, pattern, type Schema, text } from './schema-parts.ts'

const oneOf = (title: string, description: string, values: readonly string[]): Schema => ({
  ...text(description, title),
  enum: values,
})

const common = (defaults: {
  readonly direction: string
  readonly terminators: string
  readonly initial: string
  readonly end: string
}): Readonly<Record<string, Schema>> => ({
  format: oneOf('wav or mp3', 'wav or mp3; default wav.', ['wav', 'mp3']),
  direction: oneOf(
    'speak, listen or both',
    `What the caller says (speak), hears (listen), or both; default ${defaults.direction}.`,
    ['speak', 'listen', 'both'],
  ),
  stereo: boolean('Each side on a channel of its own, so direction can only be both; default false.'),
  beep: boolean('A tone before the beginning; default false.'),
  terminators: pattern(
    terminatorsPattern,
    `Keys that end it; default ${defaults.terminators}.`,
    'any of 0-9 * # A-D',
  ),
  initial_timeout: number(
    'initial_timeout',
    `Seconds in which the caller has to begin to speak; 0: any; default ${defaults.initial}.`,
  ),
  end_silence_timeout: number(
    'end_silence_timeout',
    `Seconds of silence that end it; 0: none do; default ${defaults.end}.`,
  ),
  max_length: number('max_length', 'Longest recording in seconds; default as long as the call.'),
})

/** Methods that record. */
export const recordingMethods: Readonly<Record<string, MethodSpec>> = {
  record: {
    description: 'Records the caller; the next step comes when that is over.',
    properties: common({ direction: 'speak', terminators: '#', initial: '4', end: '5' }),
  },
  record_call: {
    description: 'Begins to record the call, and goes on with the next step.',
    properties: {
      control_id: text('Name by which stop_record_call finds it; default a new one.'),
      ...common({ direction: 'both', terminators: 'none', initial: '0', end: '0' }),
    },
  },
  stop_record_call: {
    description: 'Ends what record_call began.',
    properties: { control_id: text('Which one; default the last.') },
  },
}
