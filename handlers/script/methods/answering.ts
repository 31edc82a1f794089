import { readCodecs } from '../../common/codecs.ts'
import type { CodecName } from '../../verbs.ts'
import { CallEnded } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { Method, ScriptContext } from '../method.ts'
import { choice, number, text } from '../schema-builders.ts'
import type { Values } from '../values.ts'

/** Of names that nobody here speaks the caller may offer something else. */
const codecsOf = (values: Values, script: ScriptContext): readonly CodecName[] => {
  const named = values.text('codecs')
  const codecs = readCodecs(named ?? '')
  if (named !== undefined && codecs.length === 0)
    script.warn(codes.parameterInvalid, 'codecs names no codec that is known; any is taken.', values.path)
  return codecs
}

/** Beginning and end of the call. */
export const answering: Readonly<Record<string, Method>> = {
  answer: {
    description: 'Answers the call; nothing when it is answered already.',
    properties: {
      max_duration: number('Longest call in seconds; default 14400.', [1, 86_400]),
      codecs: text(
        'Codecs to take, with commas, the first that the caller offers first: of PCMU, PCMA, G722, OPUS and L16 those that the carrier has in its configuration. A caller who offers none of them is refused (488). Audio that is open already, by early media or a browser, keeps its codec, with a warning.',
      ),
    },
    withoutEffect: ['username', 'password'],
    run: async (values, script) => {
      if (script.call.isAnswered) return undefined
      const maxDurationMs = values.seconds('max_duration')
      const codecs = codecsOf(values, script)
      await script.call.answer({
        ...(maxDurationMs !== undefined && { maxDurationMs }),
        ...(codecs.length > 0 && { codecs }),
      })
      return undefined
    },
  },
  hangup: {
    description: 'Ends the call. Before an answer, busy and decline refuse it.',
    properties: { reason: choice('hangup, busy or decline; default hangup.', ['hangup', 'busy', 'decline']) },
    run: async (values, { call }) => {
      await call.hangup(values.choice<'hangup' | 'busy' | 'decline'>('reason') ?? 'hangup')
      throw new CallEnded()
    },
  },
}
