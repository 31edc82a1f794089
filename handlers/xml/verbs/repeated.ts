import type { Sound } from '../../verbs.ts'
import type { Run } from '../verb.ts'

/** A sound with its number of rounds; 0 means without end. */
export interface Repeated {
  readonly sound: Sound
  readonly loop: number
}

/** Plays it to the caller, answering first. */
export const playing = (repeated: Repeated | undefined): Run | undefined =>
  repeated &&
  (async ({ call }) => {
    await call.play({ sounds: [repeated.sound], loop: repeated.loop })
    return 'on'
  })
