import { randomUUID } from 'node:crypto'
import type { CollectOptions, CollectResult, SpeechOptions } from '../../verbs.ts'
import type { SendEvent } from '../events.ts'
import type { Method } from '../method.ts'
import { keys, list, number, statusUrl, text } from '../schema-builders.ts'
import { soundFault } from '../value-check.ts'
import type { Values } from '../values.ts'
import { sound, soundList, soundsOf, speaking } from './playing.ts'

/** Parameters whose presence means that digits are collected besides speech. */
const ofDigits = ['max_digits', 'terminators', 'digit_timeout']
const ofSpeech = ['speech_timeout', 'speech_end_timeout', 'speech_language', 'speech_hints', 'speech_engine']

const speechOptions = (values: Values): SpeechOptions | undefined => {
  if (!ofSpeech.some((name) => values.has(name))) return undefined
  const language = values.text('speech_language')
  const hints = values.texts('speech_hints').filter((hint) => hint !== '')
  const endSilenceMs = values.seconds('speech_end_timeout')
  const maxSpeechMs = values.seconds('speech_timeout')
  return {
    ...(language && { language }),
    ...(hints.length > 0 && { hints }),
    ...(endSilenceMs !== undefined && { endSilenceMs }),
    ...(maxSpeechMs !== undefined && { maxSpeechMs }),
  }
}

const collectOptions = (values: Values): Omit<CollectOptions, 'prompt'> => {
  const terminators = values.text('terminators')
  const initialTimeoutMs = values.seconds('initial_timeout')
  const interDigitTimeoutMs = values.seconds('digit_timeout')
  const speech = speechOptions(values)
  return {
    ...(speech && { speech, digits: ofDigits.some((name) => values.has(name)) }),
    maxDigits: values.number('max_digits') ?? 1,
    ...(terminators !== undefined && { terminators }),
    ...(initialTimeoutMs !== undefined && { initialTimeoutMs }),
    ...(interDigitTimeoutMs !== undefined && { interDigitTimeoutMs }),
  }
}

const wordOf = ({ reason, digits, speech }: CollectResult): string => {
  if (speech) return speech.text === '' ? 'no_match' : 'match_speech'
  if (digits !== '') return 'match_digits'
  return reason === 'error' ? 'failed' : 'no_input'
}

const variablesOf = (result: CollectResult): Readonly<Record<string, unknown>> => ({
  prompt_result: wordOf(result),
  prompt_value: result.speech?.text ?? result.digits,
  prompt_digit_terminator: result.terminator ?? '',
  prompt_speech_confidence: result.speech?.confidence,
})

const sendResult = (send: SendEvent, result: CollectResult): void => {
  const { digits, terminator = '', speech } = result
  const word = wordOf(result)
  const input =
    word === 'match_speech'
      ? { type: 'speech', params: { text: speech?.text, confidence: speech?.confidence } }
      : word === 'match_digits'
        ? { type: 'digit', params: { digits, terminator } }
        : { type: word === 'failed' ? 'error' : word }
  send({ result: input, final: true, state: 'finished' })
}

/** Methods that ask the caller for input. */
export const prompting: Readonly<Record<string, Method>> = {
  prompt: {
    description:
      'Plays sounds and collects digits, or speech if a parameter of speech is present, or both. ' +
      'Input stops the sounds.',
    properties: {
      play: {
        title: 'a sound or a list of sounds',
        description: 'Sounds to play.',
        anyOf: [sound, soundList('In order.')],
      },
      ...speaking,
      max_digits: number('Number of digits that completes the input; default 1.', [1, 128]),
      terminators: keys('DTMF digits that end the input; default none.'),
      digit_timeout: number('Maximum seconds between two digits; default 5.', [0.1, 600]),
      initial_timeout: number(
        'Maximum seconds until the first digit or the start of speech; default 5.',
        [0.1, 600],
      ),
      speech_timeout: number('Maximum duration of speech in seconds; default 60.', [0.1, 600]),
      speech_end_timeout: number(
        'Seconds of silence that end speech; default: the recogniser decides, or 1 s.',
        [0.1, 60],
      ),
      speech_language: text('Language of the speech, such as en-US.'),
      speech_hints: list(
        'Words and phrases that the caller is likely to say.',
        'a list of texts',
        text('A word or phrase.'),
        {
          maxItems: 500,
        },
      ),
      speech_engine: text('Accepted; the recogniser is that of the configuration.'),
      status_url: statusUrl('calling.call.collect'),
    },
    required: ['play'],
    texts: { play: soundFault },
    failed: {
      prompt_result: 'failed',
      prompt_value: '',
      prompt_digit_terminator: '',
      prompt_speech_confidence: undefined,
    },
    run: async (values, script) => {
      const prompt = soundsOf(values, 'play', script)
      const collect = collectOptions(values)
      const url = values.url('status_url')
      const send = script.events.sender(url, 'calling.call.collect', { control_id: randomUUID() })
      const onInput = () => send({ result: { type: 'start_of_input' }, final: false })
      const result = await script.call
        .collect({ prompt, ...collect, ...(url !== undefined && { onInput }) })
        .catch((error: unknown) => {
          send({ result: { type: 'error' }, final: true, state: 'finished' })
          throw error
        })
      sendResult(send, result)
      script.variables.assign(variablesOf(result))
      return undefined
    },
  },
}
