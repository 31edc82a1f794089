import { randomUUID } from 'node:crypto'
import { asText } from '../../common/as-text.ts'
import type { Speaker } from '../../common/sounds.ts'
import type { PlayOptions, Sound } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'
import type { SendEvent } from '../events.ts'
import type { Method, ScriptContext } from '../method.ts'
import { boolean, list, number, type Schema, statusUrl, text } from '../schema-builders.ts'
import { soundFault } from '../value-check.ts'
import type { Values } from '../values.ts'

const sounds = 'say:<text>, silence:<seconds>, ring:[<seconds>:]<country>, file:<name>, or an http(s) URL'

/** Schema of one sound. */
export const sound = text(`Sound to play: ${sounds}.`, `a sound (${sounds})`)

/** Schema of a list of sounds that play in order. */
export const soundList = (description: string): Schema =>
  list(description, 'a list of sounds', sound, { minItems: 1 })

/** Parameters of the voice and the volume. */
export const speaking: Readonly<Record<string, Schema>> = {
  volume: number('Decibels, -40 to 40; default 0.', [-40, 40]),
  say_voice: text('Voice for say:; default the variable say_voice.'),
  say_language: text('Language for say:, such as en-US; default the variable say_language.'),
  say_gender: text(
    'Gender of the voice for say: if no voice is named, male or female; default the variable say_gender.',
  ),
}

/** Returns the voice of a step, from its parameters or from the variables of the same names. */
export const speakerOf = (values: Values, { variables }: ScriptContext): Speaker => {
  const of = (name: string) => values.text(name) ?? asText(variables.lookup(`vars.${name}`))
  const voice = of('say_voice')
  const language = of('say_language')
  const gender = of('say_gender')
  return { ...(voice && { voice }), ...(language && { language }), ...(gender && { gender }) }
}

/** Returns the sounds and their volume from a step's parameters. */
export const soundsOf = (
  values: Values,
  name: string,
  script: ScriptContext,
): { readonly sounds: readonly Sound[]; readonly volumeDb?: number } => {
  const volumeDb = values.number('volume')
  return {
    sounds: values.sounds(name, speakerOf(values, script)),
    ...(volumeDb !== undefined && { volumeDb }),
  }
}

/** Runs an activity and sends the event of its end: `error` after a failure, otherwise `end`. */
export const reportingEnd = async <T>(send: SendEvent, end: string, run: () => Promise<T>): Promise<T> => {
  try {
    const value = await run()
    send({ state: end })
    return value
  } catch (error) {
    send({ state: error instanceof VerbFailed ? 'error' : end })
    throw error
  }
}

/** Methods that play sounds. */
export const playing: Readonly<Record<string, Method>> = {
  play: {
    description: 'Plays sounds in order.',
    properties: {
      url: sound,
      urls: soundList('Sounds to play in order.'),
      ...speaking,
      auto_answer: boolean('Answers the call first; default true. false plays as early media.'),
      status_url: statusUrl('calling.call.play'),
    },
    exactlyOne: ['url', 'urls'],
    texts: { url: soundFault, urls: soundFault },
    failed: { play_result: 'failed' },
    run: async (values, script) => {
      const autoAnswer = values.boolean('auto_answer')
      const options: PlayOptions = {
        ...soundsOf(values, values.has('url') ? 'url' : 'urls', script),
        ...(autoAnswer !== undefined && { autoAnswer }),
      }
      const send = script.events.sender(values.url('status_url'), 'calling.call.play', {
        control_id: randomUUID(),
      })
      send({ state: 'playing' })
      await reportingEnd(send, 'finished', () => script.call.play(options))
      script.variables.assign({ play_result: 'success' })
      return undefined
    },
  },
}
