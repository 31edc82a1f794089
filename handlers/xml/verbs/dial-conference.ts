import { type Fields, seconds, type Target } from '../../common/forms.ts'
import type { ConferenceResult, ConferenceSeat } from '../../verbs.ts'
import { type ConferenceNoun, conferenceOptions } from '../nouns/conference.ts'
import type { Run, Stage } from '../verb.ts'
import { asked } from '../verb.ts'

/** What of `Dial` has a meaning for a conference. */
interface DialOptions {
  readonly maxDurationMs: number
  readonly hangupOnStar: boolean
  readonly action: Target | undefined
}

/** Takes the caller to a conference until it leaves. Without a conference it fails. */
export const joining =
  (noun: ConferenceNoun | undefined, options: DialOptions): Run =>
  async (stage) => {
    const result = noun && (await join(stage, noun, options))
    return asked(options.action, resultFields(result))
  }

const join = async (
  stage: Stage,
  noun: ConferenceNoun,
  options: DialOptions,
): Promise<ConferenceResult | undefined> => {
  const left = new AbortController()
  const stopListening: (() => void)[] = []
  const onJoined = (seat: ConferenceSeat) => {
    const over = () => seat.leave()
    // Nobody waits for the limit; that it was given up, or the call is over, is no fault.
    stage.call.sleep(options.maxDurationMs, { signal: left.signal }).then(over, () => {})
    if (options.hangupOnStar) stopListening.push(stage.call.onDigit((digit) => digit === '*' && over()))
  }
  try {
    return await stage.attempt(stage.call.joinConference({ ...conferenceOptions(stage, noun), onJoined }))
  } finally {
    left.abort()
    for (const stop of stopListening) stop()
  }
}

/** As the family has it: `answered` for a conference. */
const resultFields = (result: ConferenceResult | undefined): Fields =>
  !result || result.kind === 'full'
    ? { DialCallStatus: 'failed' }
    : { DialCallStatus: 'answered', DialCallDuration: seconds(result.durationMs) }
