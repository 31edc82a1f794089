import type { Method } from '../method.ts'
import { agents } from './agents.ts'
import { answering } from './answering.ts'
import { assigning } from './assigning.ts'
import { conferencing } from './conferencing.ts'
import { connecting } from './connecting.ts'
import { detecting } from './detecting.ts'
import { flow } from './flow.ts'
import { hours } from './hours.ts'
import { playing } from './playing.ts'
import { prompting } from './prompting.ts'
import { queueing } from './queueing.ts'
import { recording } from './recording.ts'
import { requesting } from './requesting.ts'
import { rooms } from './rooms.ts'
import { signalling } from './signalling.ts'
import { streaming } from './streaming.ts'
import { unsupportedMethods } from './unsupported.ts'

/** Every method of the language, by name. */
export const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...answering,
    ...playing,
    ...prompting,
    ...signalling,
    ...connecting,
    ...conferencing,
    ...queueing,
    ...detecting,
    ...recording,
    ...rooms,
    ...streaming,
    ...flow,
    ...assigning,
    ...requesting,
    ...hours,
    ...agents,
    ...unsupportedMethods,
  }),
)

/** Methods that may run on a callee's leg before the two are joined. */
export const confirmMethods: ReadonlySet<string> = new Set([
  'cond',
  'set',
  'unset',
  'hangup',
  'play',
  'prompt',
  'record',
  'record_call',
  'stop_record_call',
  'tap',
  'stop_tap',
  'stream',
  'stop_stream',
  'send_digits',
  'send_sms',
  'denoise',
  'stop_denoise',
])
