import { terminatorsPattern } from '../../common/destinations.ts'
import type { Fields, Target } from '../../common/forms.ts'
import type { CollectOptions, CollectResult, Sound, SpeechOptions } from '../../verbs.ts'
import { tell } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { Stage, VerbKind } from '../verb.ts'
import { asked } from '../verb.ts'
import { pause, readPause } from './pause.ts'
import { play, readPlay } from './play.ts'
import type { Repeated } from './repeated.ts'
import { readSay, say } from './say.ts'

/** Digits without a limit of the document's. */
const manyDigits = 128
/** Rounds of a prompt inside `Gather` that is to be repeated without end. */
const manyRounds = 100
/** Most sounds of one `Gather`, all rounds together. */
const maxSounds = 5_000
/** Most hints of one `Gather`; the rest is left out. */
const maxHints = 500

/**
 * `Gather` collects digits, or speech, or both, while what stands in it is played. Without an action they go to the document's own URL; an
 * inline document has none, so it needs an action.
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
  inside: [say, play, pause],
  aside: true,
  read: (reader) => {
    const speech = readSpeech(reader)
    const partial = reader.target('partialResultCallback', 'partialResultCallbackMethod')
    const collect = readCollect(reader)
    const prompts = promptsOf(reader)
    const even = reader.boolean('actionOnEmptyResult')
    const action = gatherAction(reader)
    const input = reader.matching(
      'input',
      '^(dtmf|speech|dtmf speech|speech dtmf)$',
      'dtmf, speech or both',
      'dtmf',
    )
    return async (stage) => {
      await stage.answer()
      // Only now: a document of 64 kB may hold thousands of prompts with a thousand rounds each.
      const sounds = prompts.flatMap(roundsOf)
      const result = await stage.call.collect({
        ...(sounds.length > 0 && { prompt: { sounds } }),
        ...collect,
        ...(input !== 'dtmf' && { speech: { ...speech, ...(partial && onPartial(stage, partial)) } }),
        ...(input === 'speech' && { digits: false }),
      })
      const empty = result.digits === '' && !result.speech
      return empty && !even ? 'on' : asked(action, resultFields(result))
    }
  },
}

const readCollect = (reader: ElementReader): CollectOptions => {
  const timeoutMs = reader.integer('timeout', 1, 600, 5) * 1000
  return {
    maxDigits: reader.integer('numDigits', 1, manyDigits, manyDigits),
    terminators: reader.matching('finishOnKey', terminatorsPattern, 'any of 0-9 * # A-D', '#'),
    initialTimeoutMs: timeoutMs,
    interDigitTimeoutMs: timeoutMs,
  }
}

/** `speechTimeout` in seconds, or `auto`: when the recogniser says that an utterance is over. */
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

/** Tells what was understood so far, each time with one more in `SequenceNumber`. */
const onPartial = (stage: Stage, target: Target): Pick<SpeechOptions, 'onPartial'> => {
  let sequence = 0
  return {
    onPartial: (text) => {
      const fields = { SequenceNumber: String(sequence++), UnstableSpeechResult: text }
      tell(stage.context, 'speech-partial', target, { ...stage.standardFields(), ...fields })
    },
  }
}

/** What the action is told: digits, or speech, without a confidence where the recogniser has none. */
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
      'Gather needs an action here: the document has no URL of its own to send the digits to.',
    )
  return action
}

const promptsOf = (reader: ElementReader): readonly Repeated[] => {
  const prompts: Repeated[] = []
  let sounds = 0
  for (const { kind, reader: child } of reader.nestedOf([say, play, pause])) {
    const prompt = promptOf(kind, child)
    if (!prompt) continue
    prompts.push(prompt)
    sounds += prompt.loop
    if (sounds <= maxSounds) continue
    reader.error(codes.schema, `Gather plays more than ${maxSounds} sounds, all rounds together.`)
    return []
  }
  return prompts
}

const promptOf = (kind: VerbKind, reader: ElementReader): Repeated | undefined => {
  if (kind === say) return limited(readSay(reader))
  if (kind === pause) return { sound: { kind: 'silence', ms: readPause(reader) }, loop: 1 }
  const { audio, digits } = readPlay(reader)
  if (digits !== undefined) reader.warning(codes.digits, 'Digits cannot be sent inside Gather.', 'digits')
  return limited(audio)
}

const limited = (repeated: Repeated | undefined): Repeated | undefined =>
  repeated && { ...repeated, loop: repeated.loop || manyRounds }

const roundsOf = ({ sound, loop }: Repeated): readonly Sound[] => Array<Sound>(loop).fill(sound)
