import { type Fields, seconds, type Target } from '../../common/forms.ts'
import type { ConferenceParticipant, ConferenceResult } from '../../verbs.ts'
import { conferenceOptions, type ParsedConference } from '../nouns/conference.ts'
import type { RunVerb, VerbContext } from '../verb.ts'
import { continueWith } from '../verb.ts'

/** Options of `Dial` that apply to a conference. */
interface DialOptions {
  readonly maxDurationMs: number
  readonly hangupOnStar: boolean
  readonly action: Target | undefined
}

/**
 * Returns a verb that adds the caller to a conference until the caller leaves. Without a conference the verb
 * fails.
 */
export const dialConference =
  (noun: ParsedConference | undefined, options: DialOptions): RunVerb =>
  async (context) => {
    const result = noun && (await join(context, noun, options))
    return continueWith(options.action, resultFields(result))
  }

const join = async (
  context: VerbContext,
  noun: ParsedConference,
  options: DialOptions,
): Promise<ConferenceResult | undefined> => {
  const left = new AbortController()
  const stopListening: (() => void)[] = []
  const onJoined = (participant: ConferenceParticipant) => {
    const leave = () => participant.leave()
    // The sleep rejects when the caller leaves first or the call ends; neither is a fault.
    context.call.sleep(options.maxDurationMs, { signal: left.signal }).then(leave, () => {})
    if (options.hangupOnStar) stopListening.push(context.call.onDigit((digit) => digit === '*' && leave()))
  }
  try {
    return await context.warnIfFailed(
      context.call.joinConference({ ...conferenceOptions(context, noun), onJoined }),
    )
  } finally {
    left.abort()
    for (const stop of stopListening) stop()
  }
}

/** Form fields for the action. The family's status for a conference is `answered`. */
const resultFields = (result: ConferenceResult | undefined): Fields =>
  !result || result.kind === 'full'
    ? { DialCallStatus: 'failed' }
    : { DialCallStatus: 'answered', DialCallDuration: seconds(result.durationMs) }
