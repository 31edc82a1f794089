import { terminatorsPattern } from '../../common/destinations.ts'
import type { Fields, Target } from '../../common/forms.ts'
import type { CollectOptions, CollectResult, Sound, SpeechOptions } from '../../verbs.ts'
import { sendCallback } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { VerbContext, VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'
import { pause, readPause } from './pause.ts'
import { play, readPlay } from './play.ts'
import type { RepeatedSound } from './repeated-sound.ts'
import { readSay, say } from './say.ts'

/** Maximum number of digits without `numDigits`. */
const defaultMaxDigits = 128

/** Number of repetitions of a prompt that repeats without end. */
const maxRounds = 100

/** Maximum number of sounds of one `Gather`, including repetitions. */
const maxSounds = 5_000

/** Maximum number of hints of one `Gather`; further hints are dropped. */
const maxHints = 500

/**
 * Verb `Gather`: collects digits, speech or both while its prompts play. The default action is the document's
 * own URL; an inline document must have an action.
 */
export const gather: VerbKind = {
  name: 'Gather',
  attributes: [
    'input',
    'timeout',
    'numDigits',
    'finishOnKey',
    'action',
    'method',
    'actionOnEmptyResult',
    'language',
    'hints',
    'speechTimeout',
    'partialResultCallback',
    'partialResultCallbackMethod',
  ],
  children: [say, play, pause],
  canRunInSideDocument: true,
  read: (reader) => {
    const speech = readSpeech(reader)
    const partial = reader.target('partialResultCallback', 'partialResultCallbackMethod')
    const collect = readCollect(reader)
    const prompts = promptsOf(reader)
    const hasActionOnEmpty = reader.boolean('actionOnEmptyResult')
    const action = gatherAction(reader)
    const input = reader.matching(
      'input',
      '^(dtmf|speech|dtmf speech|speech dtmf)$',
      'dtmf, speech or both',
      'dtmf',
    )
    return async (context) => {
      await context.answer()
      // Repeated here and not while reading: a document of 64 kB may contain thousands of prompts with a
      // thousand rounds each.
      const sounds = prompts.flatMap(roundsOf)
      const result = await context.call.collect({
        ...(sounds.length > 0 && { prompt: { sounds } }),
        ...collect,
        ...(input !== 'dtmf' && { speech: { ...speech, ...(partial && onPartial(context, partial)) } }),
        ...(input === 'speech' && { digits: false }),
      })
      const isEmpty = result.digits === '' && !result.speech
      return isEmpty && !hasActionOnEmpty ? 'next' : continueWith(action, resultFields(result))
    }
  },
}

const readCollect = (reader: ElementReader): CollectOptions => {
  const timeoutMs = reader.integer('timeout', 1, 600, 5) * 1000
  return {
    maxDigits: reader.integer('numDigits', 1, defaultMaxDigits, defaultMaxDigits),
    terminators: reader.matching('finishOnKey', terminatorsPattern, 'any of 0-9 * # A-D', '#'),
    initialTimeoutMs: timeoutMs,
    interDigitTimeoutMs: timeoutMs,
  }
}

/**
 * Reads the speech options. `speechTimeout` is in seconds, or `auto`: the recogniser decides when an
 * utterance has ended.
 */
const readSpeech = (reader: ElementReader): SpeechOptions => {
  const language = reader.text('language')
  const timeout = reader.matching(
    'speechTimeout',
    '^(auto|[1-9][0-9]?)$',
    'auto, or seconds from 1 to 99',
    'auto',
  )
  const hints = (reader.text('hints') ?? '')
    .split(',')
    .map((hint) => hint.trim())
    .filter((hint) => hint !== '')
  return {
    ...(language && { language }),
    ...(hints.length > 0 && { hints: hints.slice(0, maxHints) }),
    ...(timeout !== 'auto' && { endSilenceMs: Number(timeout) * 1000 }),
  }
}

/** Returns the listener that sends partial results, numbered by `SequenceNumber`. */
const onPartial = (context: VerbContext, target: Target): Pick<SpeechOptions, 'onPartial'> => {
  let sequence = 0
  return {
    onPartial: (text) => {
      const fields = { SequenceNumber: String(sequence++), UnstableSpeechResult: text }
      sendCallback(context.handler, 'speech-partial', target, { ...context.standardFields(), ...fields })
    },
  }
}

/** Form fields for the action: the digits, or the speech with the recogniser's confidence if it has one. */
const resultFields = ({ digits, speech }: CollectResult): Fields =>
  speech
    ? {
        SpeechResult: speech.text,
        ...(speech.confidence !== undefined && {
          Confidence: String(Math.round(speech.confidence * 1e4) / 1e4),
        }),
      }
    : { Digits: digits }

const gatherAction = (reader: ElementReader): Target | undefined => {
  const action = reader.action(true)
  if (!action && !reader.element.attributes.get('action')?.trim())
    reader.error(
      codes.badUrl,
      'Gather needs an action: the document has no URL of its own to which the digits can be sent.',
    )
  return action
}

const promptsOf = (reader: ElementReader): readonly RepeatedSound[] => {
  const prompts: RepeatedSound[] = []
  let sounds = 0
  for (const { kind, reader: child } of reader.nestedOf([say, play, pause])) {
    const prompt = promptOf(kind, child)
    if (!prompt) continue
    prompts.push(prompt)
    sounds += prompt.loop
    if (sounds <= maxSounds) continue
    reader.error(codes.schema, `Gather plays more than ${maxSounds} sounds, including repetitions.`)
    return []
  }
  return prompts
}

const promptOf = (kind: VerbKind, reader: ElementReader): RepeatedSound | undefined => {
  if (kind === say) return limited(readSay(reader))
  if (kind === pause) return { sound: { kind: 'silence', ms: readPause(reader) }, loop: 1 }
  const { audio, digits } = readPlay(reader)
  if (digits !== undefined) reader.warning(codes.digits, 'Digits cannot be sent inside Gather.', 'digits')
  return limited(audio)
}

const limited = (repeated: RepeatedSound | undefined): RepeatedSound | undefined =>
  repeated && { ...repeated, loop: repeated.loop || maxRounds }

const roundsOf = ({ sound, loop }: RepeatedSound): readonly Sound[] => Array<Sound>(loop).fill(sound)
