import type { Sound } from '../../verbs.ts'
import type { RunVerb } from '../verb.ts'

/** Sound with its number of repetitions; 0 repeats without end. */
export interface RepeatedSound {
  readonly sound: Sound
  readonly loop: number
}

/** Returns a verb that plays the sound to the caller. Answers the caller first. Undefined without a sound. */
export const playRepeated = (repeated: RepeatedSound | undefined): RunVerb | undefined =>
  repeated &&
  (async ({ call }) => {
    await call.play({ sounds: [repeated.sound], loop: repeated.loop })
    return 'next'
  })
