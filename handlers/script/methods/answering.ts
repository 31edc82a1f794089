import { readCodecs } from '../../common/codecs.ts'
import type { CodecName } from '../../verbs.ts'
import { CallEnded } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { Method, ScriptContext } from '../method.ts'
import { choice, number, text } from '../schema-builders.ts'
import type { Values } from '../values.ts'

/** Reads the codecs. A list without known codecs permits all, with a warning. */
const codecsOf = (values: Values, script: ScriptContext): readonly CodecName[] => {
  const named = values.text('codecs')
  const codecs = readCodecs(named ?? '')
  if (named !== undefined && codecs.length === 0)
    script.warn(
      codes.parameterInvalid,
      'codecs contains no known codec; all codecs are accepted.',
      values.path,
    )
  return codecs
}

/** Methods that answer and end the call. */
export const answering: Readonly<Record<string, Method>> = {
  answer: {
    description: 'Answers the call. Has no effect on an answered call.',
    properties: {
      max_duration: number('Maximum duration of the call in seconds; default 14400.', [1, 86_400]),
      codecs: text(
        'Comma-separated codecs to accept: PCMU, PCMA, G722, OPUS and L16, as far as the carrier has ' +
          'them in its configuration. The order of the offer decides. A caller who offers none of ' +
          'them is rejected (488). Audio that is already open, by early media or a browser, keeps its ' +
          'codec, with a warning.',
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
    description: 'Ends the call. Before the answer, busy and decline reject it.',
    properties: { reason: choice('hangup, busy or decline; default hangup.', ['hangup', 'busy', 'decline']) },
    run: async (values, { call }) => {
      await call.hangup(values.choice<'hangup' | 'busy' | 'decline'>('reason') ?? 'hangup')
      throw new CallEnded()
    },
  },
}
